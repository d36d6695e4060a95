"""The best sentences of a text, for where no model writes summaries."""

import re
from collections import Counter
from dataclasses import dataclass

from services.core.text.tokens import terms, words
from services.core.text.truncate import truncated

NAME = "extractive"
MOST_CHARACTERS = 600  # of a summary; past it the text itself does as well
MOST_READ = 20_000  # characters of a text: the weights hardly change after that
# A sentence of few terms says little even when each is frequent; one of many is not better for it.
SHORTEST = 4
DAMPING = 6
FIRST_BONUS = 1.25  # texts often open with what they are about
_END = re.compile(r"(?<=[.!?。!?])\s+|\n+")


@dataclass(frozen=True)
class _Sentence:
    position: int
    text: str
    terms: tuple[str, ...]


def extract(text: str, most: int = MOST_CHARACTERS) -> str:
    """The sentences with the weightiest terms, in their order, at most so many characters."""
    chosen = _best(_sentences(text[:MOST_READ]), most)
    if not chosen:
        return truncated(" ".join(text[:MOST_READ].split()), most)
    return " ".join(s.text for s in sorted(chosen, key=lambda s: s.position))


def _best(sentences: list[_Sentence], most: int) -> list[_Sentence]:
    """What fits of those that are no worse than the average; room may be left."""
    weights = _weights(sentences)
    worth = {sentence.position: _worth(sentence, weights) for sentence in sentences}
    average = sum(worth.values()) / len(worth) if worth else 0.0
    chosen: list[_Sentence] = []
    for sentence in sorted(sentences, key=lambda s: (-worth[s.position], s.position)):
        fits = len(sentence.text) + sum(len(s.text) + 1 for s in chosen) <= most
        if fits and worth[sentence.position] >= average:
            chosen.append(sentence)
    return chosen


def _sentences(text: str) -> list[_Sentence]:
    """Each once, however often it is repeated."""
    pieces = dict.fromkeys(" ".join(piece.split()) for piece in _END.split(text))
    pieces.pop("", None)
    return [
        _Sentence(position, piece, tuple(t for word in words(piece) for t in terms(word.text)))
        for position, piece in enumerate(pieces)
    ]


def _weights(sentences: list[_Sentence]) -> dict[str, float]:
    """A term that several sentences share is what the text is about."""
    counts = Counter(term for sentence in sentences for term in set(sentence.terms))
    return {term: float(count) for term, count in counts.items()}


def _worth(sentence: _Sentence, weights: dict[str, float]) -> float:
    total = sum(weights[term] for term in set(sentence.terms))
    worth = total / (len(sentence.terms) + DAMPING)
    if len(sentence.terms) < SHORTEST:
        worth /= 2
    return worth * FIRST_BONUS if sentence.position == 0 else worth
