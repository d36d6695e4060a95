"""Cut a text: to fragments around the terms of a query, <<marked>>, or to its beginning."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctx_core.text.tokens import terms, word_list, word_spans

OPEN, CLOSE = "<<", ">>"
CONTEXT_WORDS = 4  # on either side of a match: enough to recognise the place
MAX_FRAGMENTS = 3


class MarkedText(NamedTuple):
    """A text, the spans of its words, and the words that contain a term."""

    text: str
    words: Sequence[tuple[int, int]]
    matches: Sequence[tuple[int, frozenset[str]]]  # index of a word, the terms in it


def mark_terms(text: str, query_terms: Collection[str]) -> MarkedText:
    """Find the words of a text that contain terms of a query."""
    query_terms = frozenset(query_terms)
    words = word_list(text)
    found = {word: query_terms.intersection(terms(word)) for word in set(words)}
    matches = [(index, found[word]) for index, word in enumerate(words) if found[word]]
    return MarkedText(text, word_spans(text), matches)


def highlights(marked: MarkedText, limit: int = MAX_FRAGMENTS) -> list[str]:
    """Return the fragments with the most distinct terms, in the order of the text."""
    groups = _groups([index for index, _ in marked.matches])
    found = dict(marked.matches)
    best = sorted(groups, key=lambda group: -len(frozenset().union(*(found[n] for n in group))))
    return [_fragment(marked, group) for group in sorted(best[:limit])]


def _groups(matches: Sequence[int]) -> list[list[int]]:
    """Group matches whose contexts touch: they share a fragment."""
    groups = [[matches[0]]] if matches else []
    for before, index in pairwise(matches):
        if index - before <= CONTEXT_WORDS:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _fragment(marked: MarkedText, group: Sequence[int]) -> str:
    text, words = marked.text, marked.words
    first = max(0, group[0] - CONTEXT_WORDS)
    last = min(len(words) - 1, group[-1] + CONTEXT_WORDS)
    parts, position = [], words[first][0]
    for start, end in _runs(marked, group):
        parts += [text[position:start], OPEN, text[start:end], CLOSE]
        position = end
    parts.append(text[position : words[last][1]])
    return " ".join("".join(parts).split())


def _runs(marked: MarkedText, group: Sequence[int]) -> list[tuple[int, int]]:
    """Join the spans of neighbouring matches with only white space between them."""
    runs: list[tuple[int, int]] = []
    for index in group:
        start, end = marked.words[index]
        if runs and not marked.text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def truncate(text: str, length: int) -> str:
    """Return at most `length` characters; a word that does not fit is left out, but the first."""
    if len(text) <= length:
        return text
    kept = text[: length + 1]
    cut = next((n for n in range(length, 0, -1) if kept[n].isspace()), None)
    shorter = kept[:cut].rstrip() if cut else ""
    return shorter or text[:length]
