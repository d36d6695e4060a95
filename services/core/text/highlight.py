"""Fragments of a text with the words of a query marked <<so>>."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from services.core.text.tokens import spans, terms, word_list

OPEN, CLOSE = "<<", ">>"
CONTEXT_WORDS = 4  # on either side of a match: enough to recognise the place
MAX_FRAGMENTS = 3


class Marked(NamedTuple):
    """A text's words, as places, and those of them that say a wanted term."""

    text: str
    words: Sequence[tuple[int, int]]
    matches: Sequence[tuple[int, frozenset[str]]]  # the word's number, the terms it says


def marked(text: str, wanted: Collection[str]) -> Marked:
    """Look for the wanted terms once, for all who show the text."""
    wanted = frozenset(wanted)
    words = word_list(text)
    said = {word: wanted.intersection(terms(word)) for word in set(words)}
    matches = [(number, said[word]) for number, word in enumerate(words) if said[word]]
    return Marked(text, spans(text), matches)


def highlights(found: Marked, limit: int = MAX_FRAGMENTS) -> list[str]:
    """The fragments that say most of the wanted terms, in the order of the text."""
    groups = _groups([number for number, _ in found.matches])
    said = dict(found.matches)
    best = sorted(groups, key=lambda group: -len(frozenset().union(*(said[n] for n in group))))
    return [_fragment(found, group) for group in sorted(best[:limit])]


def _groups(matches: Sequence[int]) -> list[list[int]]:
    """Matches whose contexts touch belong to one fragment."""
    groups = [[matches[0]]] if matches else []
    for before, number in pairwise(matches):
        if number - before <= CONTEXT_WORDS:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _fragment(found: Marked, group: Sequence[int]) -> str:
    text, words = found.text, found.words
    first = max(0, group[0] - CONTEXT_WORDS)
    last = min(len(words) - 1, group[-1] + CONTEXT_WORDS)
    pieces, position = [], words[first][0]
    for start, end in _runs(found, group):
        pieces += [text[position:start], OPEN, text[start:end], CLOSE]
        position = end
    pieces.append(text[position : words[last][1]])
    return " ".join("".join(pieces).split())


def _runs(found: Marked, group: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring matches with only space between them are marked as one."""
    runs: list[tuple[int, int]] = []
    for number in group:
        start, end = found.words[number]
        if runs and not found.text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
