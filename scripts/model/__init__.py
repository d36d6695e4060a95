"""The recipe of the shipped models."""
