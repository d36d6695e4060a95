"""Extracts the best sentences of a text as its summary, without a model."""

import re
from collections import Counter
from dataclasses import dataclass

from ctx_core.text.excerpts import truncate
from ctx_core.text.tokens import terms, words

NAME = "extractive"
MAX_CHARACTERS = 600  # of a summary; a longer one is hardly shorter than its text
MAX_READ = 20_000  # characters of a text: the weights hardly change after that
# A sentence of few terms says little even when each is frequent; one of many is not better for it.
MIN_TERMS = 4
DAMPING = 6
FIRST_BONUS = 1.25  # texts often open with their subject
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")


@dataclass(frozen=True)
class _Sentence:
    position: int
    text: str
    terms: tuple[str, ...]


def extract(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return the sentences with the most frequent terms, in their order in the text.

    A text without sentences that fit is truncated.
    """
    chosen = _best(_sentences(text[:MAX_READ]), max_characters)
    if not chosen:
        return truncate(" ".join(text[:MAX_READ].split()), max_characters)
    return " ".join(s.text for s in sorted(chosen, key=lambda s: s.position))


def _best(sentences: list[_Sentence], max_characters: int) -> list[_Sentence]:
    """Choose sentences that score at least the average, the best first, while they fit."""
    weights = _weights(sentences)
    scores = {sentence.position: _score(sentence, weights) for sentence in sentences}
    average = sum(scores.values()) / len(scores) if scores else 0.0
    chosen: list[_Sentence] = []
    for sentence in sorted(sentences, key=lambda s: (-scores[s.position], s.position)):
        length = len(sentence.text) + sum(len(s.text) + 1 for s in chosen)
        if length <= max_characters and scores[sentence.position] >= average:
            chosen.append(sentence)
    return chosen


def _sentences(text: str) -> list[_Sentence]:
    """Split a text into sentences; a repeated one counts once."""
    pieces = dict.fromkeys(" ".join(piece.split()) for piece in _SENTENCE_END.split(text))
    pieces.pop("", None)
    return [
        _Sentence(position, piece, tuple(t for word in words(piece) for t in terms(word.text)))
        for position, piece in enumerate(pieces)
    ]


def _weights(sentences: list[_Sentence]) -> dict[str, float]:
    """Weigh a term by the number of sentences that have it."""
    counts = Counter(term for sentence in sentences for term in set(sentence.terms))
    return {term: float(count) for term, count in counts.items()}


def _score(sentence: _Sentence, weights: dict[str, float]) -> float:
    total = sum(weights[term] for term in set(sentence.terms))
    score = total / (len(sentence.terms) + DAMPING)
    if len(sentence.terms) < MIN_TERMS:
        score /= 2
    return score * FIRST_BONUS if sentence.position == 0 else score
