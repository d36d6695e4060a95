"""Tokens with a scope and limits, and the access of the call that is running."""
