"""Cuts long texts into overlapping chunks, each small enough to have one meaning."""

import re
from dataclasses import dataclass

# Where a text may be cut, the best first: after a paragraph, a line, a sentence, a word.
SEAMS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?。!?]\s+"),
    re.compile(r"\s+"),
)
# A seam is taken only in the last part of a chunk: an earlier one would leave the chunk too short.
SHORTEST_SHARE = 0.6


@dataclass(frozen=True)
class TextSplitter:
    """The length of a chunk, and what it shares with the one before; in characters."""

    size: int
    overlap: int

    def chunks(self, text: str) -> list[str]:
        """All of the text, in order; one chunk where it is short enough."""
        spans = [(0, len(text))] if len(text) <= self.size else self._spans(text)
        return [text[start:end] for start, end in spans]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans = []
        start = 0
        while len(text) - start > self.size:
            end = _seam(text, start + int(self.size * SHORTEST_SHARE), start + self.size)
            spans.append((start, end))
            start = _word_start(text, end - self.overlap, end)
        spans.append((start, len(text)))
        return spans


def _seam(text: str, earliest: int, latest: int) -> int:
    """The last place of the best kind; the very end where there is none."""
    for pattern in SEAMS:
        ends = [match.end() for match in pattern.finditer(text, earliest, latest)]
        if ends:
            return ends[-1]
    return latest


def _word_start(text: str, earliest: int, latest: int) -> int:
    """Where the next chunk begins: not inside a word, if that can be helped."""
    match = re.compile(r"\s+").search(text, earliest, latest)
    return match.end() if match and match.end() < latest else earliest
