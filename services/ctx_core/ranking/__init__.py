"""Ranks entries for a query: pure functions over candidates."""
