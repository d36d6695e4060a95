"""What a result shows of its chunk: the lines around the window that answers best."""

from collections import defaultdict
from dataclasses import dataclass

from services.core.text.highlight import Marked
from services.indexer.search.window import WINDOW_STRIDE, WINDOW_WORDS

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


def snippet(found: Marked, start_line: int, context_lines: int, cut: Cut = DEFAULT_CUT) -> Snippet:
    """The whole chunk when it is short, else the lines around its best window."""
    lines = found.text.split("\n")
    if len(lines) <= WHOLE_LINES:
        return Snippet(found.text, start_line)
    height = WINDOW_LINES + 2 * context_lines
    middle = found.text.count("\n", 0, _best_place(found, cut))
    begin = max(0, min(middle - height // 2, len(lines) - height))
    return Snippet("\n".join(lines[begin : begin + height]), start_line + begin)


def _best_place(found: Marked, cut: Cut) -> int:
    """Where the middle word stands of the window that says most of the wanted terms; of several the
    first. The head of the chunk, which says what it is, when none says any."""
    said: dict[int, set[str]] = defaultdict(set)
    for number, terms in found.matches:
        first = max(0, -(-(number - cut.tokens + 1) // cut.stride))
        for window in range(first, number // cut.stride + 1):
            said[window] |= terms
    if not said:
        return 0
    best = max(sorted(said), key=lambda window: len(said[window]))
    middle = min(best * cut.stride + cut.tokens // 2, len(found.words) - 1)
    return found.words[middle][0]


def token_estimate(text: str) -> int:
    return max(1, len(text) // CHARACTERS_A_TOKEN)
