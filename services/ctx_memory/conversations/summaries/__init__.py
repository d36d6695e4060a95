"""Summaries of conversations and of the hierarchies above them, written in the background."""
