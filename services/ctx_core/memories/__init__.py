"""Memories as both servers know them."""
