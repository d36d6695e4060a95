"""Fragments of a text with the words of a query marked <<so>>."""

from collections.abc import Collection
from itertools import pairwise

from services.core.tokens import Word, terms, words

OPEN, CLOSE = "<<", ">>"
CONTEXT_WORDS = 4  # on either side of a match: enough to recognise the place
MAX_FRAGMENTS = 3


def highlights(text: str, wanted: Collection[str], limit: int = MAX_FRAGMENTS) -> list[str]:
    """The fragments that hold most of the wanted terms, in the order of the text."""
    wanted = frozenset(wanted)
    found = list(words(text))
    matches = [i for i, word in enumerate(found) if not wanted.isdisjoint(terms(word.text))]
    groups = _groups(matches)
    best = sorted(groups, key=lambda group: -len({found[i].text.lower() for i in group}))[:limit]
    return [_fragment(text, found, group) for group in sorted(best)]


def _groups(matches: Collection[int]) -> list[list[int]]:
    """Matches whose contexts touch belong to one fragment."""
    ordered = sorted(matches)
    groups = [ordered[:1]] if ordered else []
    for before, index in pairwise(ordered):
        if index - before <= CONTEXT_WORDS:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _fragment(text: str, found: list[Word], group: list[int]) -> str:
    first = max(0, group[0] - CONTEXT_WORDS)
    last = min(len(found) - 1, group[-1] + CONTEXT_WORDS)
    pieces, position = [], found[first].start
    for start, end in _runs(text, found, group):
        pieces += [text[position:start], OPEN, text[start:end], CLOSE]
        position = end
    pieces.append(text[position : found[last].end])
    return " ".join("".join(pieces).split())


def _runs(text: str, found: list[Word], group: list[int]) -> list[tuple[int, int]]:
    """Neighbouring matches with only space between them are marked as one."""
    runs: list[tuple[int, int]] = []
    for index in group:
        word = found[index]
        if runs and not text[runs[-1][1] : word.start].strip():
            runs[-1] = (runs[-1][0], word.end)
        else:
            runs.append((word.start, word.end))
    return runs
