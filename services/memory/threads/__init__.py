"""Threads: entries that belong together, and the thirteen tools that keep and search them."""
