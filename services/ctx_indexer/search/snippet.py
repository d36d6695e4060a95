"""The snippet of a definition: its numbered lines, with marked cuts where it is long."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctx_core.text.excerpts import MarkedText
from ctx_indexer.chunking.definition_spans import DefinitionSpan

WINDOW_WORDS = 16
WINDOW_STRIDE = 8  # half a window: every word has neighbours on both sides in one of them
CHARACTERS_PER_TOKEN = 4  # of code, for the models that read the results
SIGNATURE_LINES = 4  # at most, of a definition that is cut
SIGNATURE_ENDS = (":", "{", ";", "=>", "=", "do", "where")
LITTLE_MORE = 1.25  # a definition this much over its share is shown whole: a cut costs a call
MAX_LINE = 240  # characters of a line that is shown
CUT = "…"


@dataclass(frozen=True)
class Rows:
    """Lines of a file, the first of them numbered `first_line`."""

    rows: Sequence[str]
    first_line: int = 1

    @property
    def last_line(self) -> int:
        return self.first_line + len(self.rows) - 1

    def line(self, number: int) -> str:
        return self.rows[number - self.first_line]

    def cost(self, number: int) -> int:
        """Count the characters that a numbered line takes."""
        return min(len(self.line(number)), MAX_LINE) + len(str(number)) + 2


def snippet(
    rows: Rows, span: DefinitionSpan, focus: int, max_chars: int, context_lines: int = 0
) -> str:
    """Number the lines of a definition; a long one is its signature and the lines around `focus`.

    `context_lines` more are added on either side of it.
    """
    start, end = max(span.start_line, rows.first_line), min(span.end_line, rows.last_line)
    shown = shown_lines(rows, start, end, span.def_line, focus, max_chars)
    before = range(max(start - context_lines, rows.first_line), start)
    after = range(end + 1, min(end + context_lines, rows.last_line) + 1)
    return "\n".join(_numbered(rows, [*before, *shown, *after], end))


def best_line(marked: MarkedText, start_line: int) -> int:
    """Return the line in the middle of the first window with the most query terms.

    Without any match it is the first line, which names the definition.
    """
    return start_line + marked.text.count("\n", 0, _best_offset(marked))


def shown_lines(
    rows: Rows, start: int, end: int, def_line: int, focus: int, max_chars: int
) -> Iterable[int]:
    """Return the numbers of the lines that are shown of a definition."""
    whole = range(start, end + 1)
    if sum(map(rows.cost, whole)) <= max_chars * LITTLE_MORE:
        return whole
    shown = set(_signature(rows, max(def_line, start), end))
    left = max_chars - sum(map(rows.cost, shown))
    low = high = min(max(focus, start), end)
    while left > 0 and (low >= start or high <= end):
        for number in (high, low):
            if start <= number <= end and number not in shown and left > 0:
                shown.add(number)
                left -= rows.cost(number)
        low, high = low - 1, high + 1
    return sorted(shown)


def _signature(rows: Rows, start: int, end: int) -> Iterable[int]:
    """Return the lines of a definition up to the one that opens its body."""
    for number in range(start, min(start + SIGNATURE_LINES, end + 1)):
        if rows.line(number).rstrip().endswith(SIGNATURE_ENDS):
            return range(start, number + 1)
    return (start,)


def _numbered(rows: Rows, numbers: Sequence[int], end: int) -> Iterable[str]:
    """Yield numbered lines, and a mark for lines left out between them or at the end."""
    for number, following in pairwise([*numbers, max(end, numbers[-1]) + 1]):
        line = rows.line(number)
        yield f"{number}\t{line[:MAX_LINE]}{CUT if len(line) > MAX_LINE else ''}"
        if following == number + 2 <= rows.last_line:
            yield f"{number + 1}\t{rows.line(number + 1)[:MAX_LINE]}"
        elif following > number + 1:
            left_out = following - number - 1
            yield f"{CUT} {left_out} lines ({number + 1}-{following - 1})"


def _best_offset(marked: MarkedText) -> int:
    terms_of: dict[int, set[str]] = defaultdict(set)
    for word, terms in marked.matches:
        first = max(0, -(-(word - WINDOW_WORDS + 1) // WINDOW_STRIDE))
        for number in range(first, word // WINDOW_STRIDE + 1):
            terms_of[number] |= terms
    if not terms_of:
        return 0
    best = max(sorted(terms_of), key=lambda number: len(terms_of[number]))
    middle = min(best * WINDOW_STRIDE + WINDOW_WORDS // 2, len(marked.words) - 1)
    return marked.words[middle][0]


def token_estimate(text: str) -> int:
    """Estimate how many tokens a model reads."""
    return max(1, len(text) // CHARACTERS_PER_TOKEN)
