"""Packs spans into numbered sources that fit into a budget."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from ctx_indexer.answers.sources import Source, Span
from ctx_indexer.search.snippet import shown_lines

NEAR_LINES = 5  # between spans of a file: they are read as one
MAX_STITCHED = 8  # hits of one context; a small model loses track of more
MAX_PACKED = 12
PACKED_CHARACTERS = 700  # of one source in mode pack: its best lines
MIN_CHARACTERS = 160  # a signature and a line or two; less says nothing


class Mode(StrEnum):
    """How a context is assembled.

    `stitch` joins near spans and widens them to whole definitions, `pack` takes the best lines of
    more spans and answers each query by itself.
    """

    STITCH = "stitch"
    PACK = "pack"


def pack(spans: Sequence[Span], max_characters: int, mode: Mode = Mode.STITCH) -> list[Source]:
    """Number the spans, the best first, with as many lines as fit; a repeated text counts once."""
    unique = list(_unique(spans))
    if mode is Mode.STITCH:
        merged = _merged(unique)
        found = [span for span in merged if not span.role][:MAX_STITCHED]
        chosen = [*found, *(span for span in merged if span.role)]
        sizes = [max_characters] * len(chosen)
    else:
        chosen = unique[:MAX_PACKED]
        sizes = [PACKED_CHARACTERS] * len(chosen)
    sources = []
    left = max_characters
    weights = [1 / (rank + 1) ** 0.5 for rank in range(len(chosen))]
    for number, (span, largest) in enumerate(zip(chosen, sizes, strict=True), start=1):
        share = int(left * weights[number - 1] / sum(weights[number - 1 :]))
        if left < MIN_CHARACTERS:
            break
        source = Source(number, span, _lines(span, min(max(share, MIN_CHARACTERS), largest)))
        left -= len(source.text) + len(source.label)
        sources.append(source)
    return list(_widened(sources, left)) if mode is Mode.STITCH else sources


def _widened(sources: Sequence[Source], left: int) -> Iterator[Source]:
    """Give the rest of the budget to definitions that were cut, the best first."""
    for source in sources:
        whole = source.span.last - source.span.first + 1
        if left >= MIN_CHARACTERS and len(source.lines) < whole:
            before = len(source.text)
            source = replace(source, lines=_lines(source.span, before + left))  # noqa: PLW2901
            left -= len(source.text) - before
        yield source


def _lines(span: Span, max_characters: int) -> tuple[int, ...]:
    definition = span.definition
    focus = span.focus or span.first
    found = shown_lines(
        span.rows, span.first, span.last, definition.def_line, focus, max_characters
    )
    return tuple(found)


def _unique(spans: Sequence[Span]) -> Iterator[Span]:
    """Leave out spans inside an earlier one, and texts that an earlier one has."""
    texts: set[str] = set()
    kept: list[Span] = []
    for span in spans:
        digest = hashlib.sha256(" ".join(span.text.split()).encode()).hexdigest()
        if digest in texts or any(_holds(each, span) for each in kept):
            continue
        texts.add(digest)
        kept.append(span)
        yield span


def _holds(outer: Span, inner: Span) -> bool:
    same = (outer.repo, outer.path) == (inner.repo, inner.path)
    return same and outer.first <= inner.first and inner.last <= outer.last


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Join spans of a file that overlap or nearly touch, at the place of the better one."""
    merged: list[Span] = []
    for span in spans:
        for at, other in enumerate(merged):
            if _is_near(other, span):
                merged[at] = _joined(other, span)
                break
        else:
            merged.append(span)
    return merged


def _is_near(one: Span, other: Span) -> bool:
    if (one.repo, one.path, one.role) != (other.repo, other.path, other.role):
        return False
    if len(one.rows.rows) != len(other.rows.rows):
        return False  # one of them is as it was indexed
    return one.first - NEAR_LINES <= other.last + 1 and other.first - NEAR_LINES <= one.last + 1


def _joined(better: Span, other: Span) -> Span:
    definition = better.definition._replace(
        start_line=min(better.first, other.first), end_line=max(better.last, other.last)
    )
    return replace(better, definition=definition, documented=better.documented | other.documented)
