"""Blanks parts of a source text: bytes outside of them keep their place and their line."""

import re
from collections.abc import Sequence

_NOT_NEWLINE = re.compile(rb"[^\n]")
Bytes = tuple[int, int]  # where a part starts and ends


def blank(source: bytes, spans: Sequence[Bytes]) -> bytes:
    """Replace the bytes of spans, in the order of the text, with spaces; newlines in them stay."""
    if not spans:
        return source
    parts, at = [], 0
    for start, end in spans:
        parts += [source[at:start], _NOT_NEWLINE.sub(b" ", source[start:end])]
        at = end
    return b"".join([*parts, source[at:]])


def merged_spans(spans: Sequence[Bytes]) -> list[Bytes]:
    """Sort spans, and join spans that overlap or touch: `(5, 9), (1, 6)` → `(1, 9)`."""
    merged: list[Bytes] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
