"""Ranks entries for a query: pure functions over what the searches read."""
