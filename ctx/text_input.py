"""Texts that a command is given: as an argument, or on standard input."""

import sys

STANDARD_INPUT = "-"


def given_text(text: str) -> str:
    """Return an argument, or all of standard input where it is `-`. Blocks."""
    return sys.stdin.read() if text == STANDARD_INPUT else text
