"""The lines of a text, their sizes, and where a stretch of them is best cut."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

TAB_WIDTH = 4


def normalise(text: str) -> str:
    """Line ends as '\\n'; a file of old Mac line ends has no other."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines, counted from 0; `sums[i]` is the number of characters before line i."""

    rows: list[str]
    sums: list[int]

    @classmethod
    def of(cls, text: str) -> "Lines":
        rows = text.split("\n")
        return cls(rows, list(accumulate((len(row) + 1 for row in rows), initial=0)))

    def byte_starts(self, source: bytes) -> list[int]:
        """Where each line begins in the encoded text."""
        if len(source) == self.sums[-1] - 1:
            return self.sums
        return list(
            accumulate((len(row.encode("utf-8", "replace")) + 1 for row in self.rows), initial=0)
        )

    def size(self, start: int, end: int) -> int:
        """Characters of the lines from start to end, inclusive."""
        return self.sums[end + 1] - self.sums[start]

    def text(self, start: int, end: int) -> str:
        return "\n".join(self.rows[start : end + 1])

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """The stretch without blank lines at its ends; None where all are blank."""
        rows = self.rows
        while start <= end and not rows[start].strip():
            start += 1
        while end >= start and not rows[end].strip():
            end -= 1
        return (start, end) if start <= end else None

    def indent(self, row: int) -> int:
        line = self.rows[row]
        head = line[: len(line) - len(line.lstrip())]
        return len(head) + head.count("\t") * (TAB_WIDTH - 1)

    def split(self, start: int, end: int, target: int, most: int) -> Iterator[tuple[int, int]]:
        """Cut a stretch into parts of about `target` characters, none over `most` if lines allow.

        A part begins where the text is least indented, best of all after a blank line.
        """
        while self.size(start, end) > most:
            cut = self._cut(start, end, target, most)
            yield start, cut - 1
            start = cut
        yield start, end

    def _cut(self, start: int, end: int, target: int, most: int) -> int:
        """The line the next part begins with."""
        before = self.sums[start]
        low = bisect_left(self.sums, before + target // 2, start + 1, end + 1)
        high = bisect_right(self.sums, before + min(most, target + target // 4), start + 1, end + 1)
        candidates = range(low, min(high, end + 1))
        return min(candidates, key=self._badness, default=max(start + 1, min(high - 1, end)))

    def _badness(self, row: int) -> tuple[int, bool, int]:
        line = self.rows[row].strip()
        if not line:
            return (1_000_000, True, -row)
        closing = line[0] in ")]}"
        after_blank = not self.rows[row - 1].strip()
        return (self.indent(row) * 2 + closing, not after_blank, -row)
