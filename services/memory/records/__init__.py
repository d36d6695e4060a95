"""The record store: the only room that speaks SQL."""
