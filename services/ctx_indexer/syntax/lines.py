"""The lines of a text, their sizes, and the best places to cut between them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

TAB_WIDTH = 4


def normalise(text: str) -> str:
    """Turn all line ends into '\\n': '\\r\\n' of Windows, '\\r' of old Mac files."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines, counted from 0. `sums[i]` is the number of characters before line i."""

    rows: list[str]
    sums: list[int]

    @classmethod
    def of(cls, text: str) -> "Lines":
        rows = text.split("\n")
        return cls(rows, list(accumulate((len(row) + 1 for row in rows), initial=0)))

    def byte_starts(self, source: bytes) -> list[int]:
        """Return the offset of each line in the encoded text."""
        if len(source) == self.sums[-1] - 1:
            return self.sums
        return list(
            accumulate((len(row.encode("utf-8", "replace")) + 1 for row in self.rows), initial=0)
        )

    def size(self, start: int, end: int) -> int:
        """Count the characters of the lines from start to end, both included."""
        return self.sums[end + 1] - self.sums[start]

    def text(self, start: int, end: int) -> str:
        return "\n".join(self.rows[start : end + 1])

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """Drop blank lines at both ends; None where all lines are blank."""
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

    def split(
        self, start: int, end: int, target_chars: int, max_chars: int
    ) -> Iterator[tuple[int, int]]:
        """Split lines into parts of about `target_chars`, at most `max_chars` where lines allow.

        A part begins where the text is least indented, preferably after a blank line.
        """
        while self.size(start, end) > max_chars:
            cut = self._cut(start, end, target_chars, max_chars)
            yield start, cut - 1
            start = cut
        yield start, end

    def _cut(self, start: int, end: int, target_chars: int, max_chars: int) -> int:
        """Return the line that begins the next part."""
        before = self.sums[start]
        low = bisect_left(self.sums, before + target_chars // 2, start + 1, end + 1)
        reach = min(max_chars, target_chars + target_chars // 4)
        high = bisect_right(self.sums, before + reach, start + 1, end + 1)
        candidates = range(low, min(high, end + 1))
        return min(candidates, key=self._badness, default=max(start + 1, min(high - 1, end)))

    def _badness(self, row: int) -> tuple[int, bool, int]:
        """Rate a line as the beginning of a part: the lowest is the best."""
        line = self.rows[row].strip()
        if not line:
            return (1_000_000, True, -row)
        closing = line[0] in ")]}"
        after_blank = not self.rows[row - 1].strip()
        return (self.indent(row) * 2 + closing, not after_blank, -row)
