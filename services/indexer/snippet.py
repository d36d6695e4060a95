"""What a result shows of its chunk: the lines around the window that answers best."""

from collections.abc import Collection
from dataclasses import dataclass

from services.core.tokens import terms, words

WHOLE_LINES = 40  # a chunk this short is shown whole: cutting it would hide more than it saves
WINDOW_LINES = 12  # of a longer one, this many, and `context_lines` on either side
CHARACTERS_A_TOKEN = 4  # of code, for the models that read the answers


@dataclass(frozen=True)
class Snippet:
    """Some lines of a chunk, and the number of the first."""

    text: str
    start_line: int


def snippet(text: str, start_line: int, wanted: Collection[str], context_lines: int) -> Snippet:
    """The whole chunk when it is short, else its best window with context."""
    lines = text.split("\n")
    if len(lines) <= WHOLE_LINES:
        return Snippet(text, start_line)
    first = _best_window(lines, frozenset(wanted))
    begin = max(0, first - context_lines)
    end = min(len(lines), first + WINDOW_LINES + context_lines)
    return Snippet("\n".join(lines[begin:end]), start_line + begin)


def _best_window(lines: list[str], wanted: frozenset[str]) -> int:
    """The first line of the window with most of the wanted terms; the head of the chunk, which
    says what it is, when no window has more."""
    found = [wanted.intersection(t for w in words(line) for t in terms(w.text)) for line in lines]
    last = max(1, len(lines) - WINDOW_LINES + 1)
    gains = [len(set().union(*found[i : i + WINDOW_LINES])) for i in range(last)]
    return gains.index(max(gains))


def token_estimate(text: str) -> int:
    return max(1, len(text) // CHARACTERS_A_TOKEN)
