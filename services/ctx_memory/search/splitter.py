"""Splits long texts into overlapping chunks, each small enough to have one meaning."""

import math
import re
from dataclasses import dataclass

# Where a text may be split, the best first: after a paragraph, a line, a sentence, a word.
BREAKS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?。]\s+"),
    re.compile(r"\s+"),
)
CHUNK_SIZE = 1500  # about 400 tokens: the transformer that ships reads 512
CHUNK_OVERLAP = 150  # two sentences: an idea at the end of a chunk is whole in one of the two
# A break counts only in the last part of a chunk: an earlier one would leave the chunk too short.
MIN_SHARE = 0.6


@dataclass(frozen=True)
class TextSplitter:
    """The size of a chunk, and its overlap with the chunk before, both in characters."""

    size: int = CHUNK_SIZE
    overlap: int = CHUNK_OVERLAP

    def chunks(self, text: str) -> list[str]:
        """Return chunks that cover the whole text, in order; one where it is short enough."""
        spans = [(0, len(text))] if len(text) <= self.size else self._spans(text)
        return [text[start:end] for start, end in spans]

    def most_chunks(self, length: int) -> int:
        """Return how many chunks a text of this length has at most."""
        if length <= self.size:
            return 1
        shortest_step = max(1, int(self.size * MIN_SHARE) - self.overlap)
        return 1 + math.ceil((length - self.size) / shortest_step)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans = []
        start = 0
        while len(text) - start > self.size:
            end = _break(text, start + int(self.size * MIN_SHARE), start + self.size)
            spans.append((start, end))
            start = _word_start(text, end - self.overlap, end)
        spans.append((start, len(text)))
        return spans


def _break(text: str, earliest: int, latest: int) -> int:
    """Return the last break of the best kind between two positions; `latest` without any."""
    for pattern in BREAKS:
        ends = [match.end() for match in pattern.finditer(text, earliest, latest)]
        if ends:
            return ends[-1]
    return latest


def _word_start(text: str, earliest: int, latest: int) -> int:
    """Return where the next chunk begins: at a word, where one begins between the positions."""
    match = re.compile(r"\s+").search(text, earliest, latest)
    return match.end() if match and match.end() < latest else earliest
