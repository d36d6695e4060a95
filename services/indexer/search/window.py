"""Micro windows: short overlapping stretches of a chunk, counted in words."""

from bisect import bisect_left
from typing import NamedTuple

from services.core.errors import InvalidInput
from services.core.text.tokens import words

WINDOW_WORDS = 16
WINDOW_STRIDE = 8  # half a window: every place is seen with something on both its sides


class Window(NamedTuple):
    """A stretch of a chunk; its lines are counted like the chunk's."""

    start_line: int
    end_line: int
    text: str


def windows(
    text: str, size: int = WINDOW_WORDS, stride: int = WINDOW_STRIDE, first_line: int = 1
) -> list[Window]:
    """Windows of `size` words, each beginning `stride` words after the one before.

    Together they hold every word; the last one may be shorter. `first_line` is the line of the file
    where the text begins.
    """
    if size < 1:
        raise InvalidInput("size", f"{size} words; a window has at least one")
    if not 1 <= stride <= size:
        raise InvalidInput(
            "stride", f"{stride}; it must be from 1 to the window's size, {size}, or words are lost"
        )
    spans = [(word.start, word.end) for word in words(text)]
    if not spans:
        return []
    breaks = [at for at, character in enumerate(text) if character == "\n"]
    result = []
    for at in range(0, max(len(spans) - size, 0) + stride, stride):
        inside = spans[at : at + size]
        if not inside:
            break
        start, end = inside[0][0], inside[-1][1]
        lines = (first_line + bisect_left(breaks, start), first_line + bisect_left(breaks, end))
        result.append(Window(*lines, text[start:end]))
        if at + size >= len(spans):
            break
    return result
