"""Attacks by strangers and by accidents, and the count of those that held."""
