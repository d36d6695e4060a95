"""Revisions of the tables. A revision never imports `tables.py`, which later versions change."""
