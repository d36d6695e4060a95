"""What a result shows of its chunk: the lines around the window that answers best."""

from collections.abc import Collection
from dataclasses import dataclass

from services.core.tokens import text_terms
from services.indexer.window import WINDOW_STRIDE, WINDOW_WORDS, windows

WHOLE_LINES = 40  # a chunk this short is shown whole: cutting it would hide more than it saves
WINDOW_LINES = 12  # of a longer one, this many, and `context_lines` on either side
CHARACTERS_A_TOKEN = 4  # of code, for the models that read the answers


@dataclass(frozen=True)
class Cut:
    """The micro windows among which the best is looked for."""

    tokens: int = WINDOW_WORDS
    stride: int = WINDOW_STRIDE


DEFAULT_CUT = Cut()


@dataclass(frozen=True)
class Snippet:
    """Some lines of a chunk, and the number of the first."""

    text: str
    start_line: int


def snippet(
    text: str,
    start_line: int,
    wanted: Collection[str],
    context_lines: int,
    cut: Cut = DEFAULT_CUT,
) -> Snippet:
    """The whole chunk when it is short, else the lines around its best window."""
    lines = text.split("\n")
    if len(lines) <= WHOLE_LINES:
        return Snippet(text, start_line)
    height = WINDOW_LINES + 2 * context_lines
    middle = _best_line(text, frozenset(wanted), cut)
    begin = max(0, min(middle - height // 2, len(lines) - height))
    return Snippet("\n".join(lines[begin : begin + height]), start_line + begin)


def _best_line(text: str, wanted: frozenset[str], cut: Cut) -> int:
    """The line, counted from 0, of the window that says most of the wanted terms; of several the
    first. The head of the chunk, which says what it is, when none says any."""
    best, line = 0, 0
    for window in windows(text, cut.tokens, cut.stride, first_line=0):
        gain = len(wanted.intersection(text_terms(window.text)))
        if gain > best:
            best, line = gain, (window.start_line + window.end_line) // 2
    return line


def token_estimate(text: str) -> int:
    return max(1, len(text) // CHARACTERS_A_TOKEN)
