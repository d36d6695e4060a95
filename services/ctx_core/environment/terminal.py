"""The user's terminal, as the environment describes it."""

import os

DUMB = "dumb"


def allows_color() -> bool:
    """Whether colours are wanted: NO_COLOR is not set, and the terminal is able to show them."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != DUMB
