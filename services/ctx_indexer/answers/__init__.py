"""Answers to questions about code: retrieved, packed, written or extracted, and cited."""
