"""The snippet of a hit: the lines around the best window of its chunk."""

from collections import defaultdict
from dataclasses import dataclass

from services.core.text.highlight import MarkedText

WINDOW_WORDS = 16
WINDOW_STRIDE = 8  # half a window: every word has neighbours on both sides in one of them
WHOLE_LINES = 40  # a chunk this short is shown whole: cutting it would hide more than it saves
WINDOW_LINES = 12  # shown of a longer chunk, and `context_lines` on either side
CHARACTERS_PER_TOKEN = 4  # of code, for the models that read the results


@dataclass(frozen=True)
class WindowSize:
    """The windows of a chunk: how many words each has, and from one start to the next."""

    words: int = WINDOW_WORDS
    stride: int = WINDOW_STRIDE


DEFAULT_WINDOW = WindowSize()


@dataclass(frozen=True)
class Snippet:
    """Lines of a chunk, and the number of the first."""

    text: str
    start_line: int


def snippet(
    marked: MarkedText, start_line: int, context_lines: int, window: WindowSize = DEFAULT_WINDOW
) -> Snippet:
    """Return a short chunk whole, of a longer one the lines around its best window."""
    lines = marked.text.split("\n")
    if len(lines) <= WHOLE_LINES:
        return Snippet(marked.text, start_line)
    height = WINDOW_LINES + 2 * context_lines
    middle = marked.text.count("\n", 0, _best_offset(marked, window))
    first = max(0, min(middle - height // 2, len(lines) - height))
    return Snippet("\n".join(lines[first : first + height]), start_line + first)


def _best_offset(marked: MarkedText, window: WindowSize) -> int:
    """Return the offset of the middle word of the first window with the most query terms.

    Without any match it is the start of the chunk, which says what the chunk is.
    """
    terms_of: dict[int, set[str]] = defaultdict(set)
    for word, terms in marked.matches:
        first = max(0, -(-(word - window.words + 1) // window.stride))
        for number in range(first, word // window.stride + 1):
            terms_of[number] |= terms
    if not terms_of:
        return 0
    best = max(sorted(terms_of), key=lambda number: len(terms_of[number]))
    middle = min(best * window.stride + window.words // 2, len(marked.words) - 1)
    return marked.words[middle][0]


def token_estimate(text: str) -> int:
    """Estimate how many tokens a model reads."""
    return max(1, len(text) // CHARACTERS_PER_TOKEN)
