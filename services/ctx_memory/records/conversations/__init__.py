"""Conversations in SQL: messages, summaries, relations, cleanup, calls."""
