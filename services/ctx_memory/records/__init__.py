"""The record store: the only room that uses SQL."""
