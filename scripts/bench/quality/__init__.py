"""Rank of the right answer, by annotated questions."""
