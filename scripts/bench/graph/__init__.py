"""Calls that the symbol graph resolves, judged by witnesses that are not ours."""
