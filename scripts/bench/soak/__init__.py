"""Thousands of calls, and the growth of a server that answers them."""
