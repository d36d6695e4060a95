"""Scores entries by words, meaning, their neighbours in the thread, and what kind of text it is."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from services.core.text.tokens import word_parts
from services.memory.search.ranking.calibration import Calibration

REACH = 2  # entries before and after that count as context; a third one adds nothing
# `Name: text`, the form in which transcripts say who speaks; a name has few words.
SPEAKER = re.compile(r"\s*([^\W\d_][\w.'-]*(?: [\w.'-]+){0,2}):\s")

QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # Latin, full width, Arabic


@dataclass(frozen=True)
class Weights:
    """What each sign adds to the score of an entry; meaning is weighed by the calibration."""

    words: float = 0.17  # of the entry's BM25 score
    words_beside: float = 0.09  # of the BM25 score of each entry up to REACH beside it
    meaning: float = 1.0
    meaning_beside: float = 1.0  # of the entries directly beside it
    speaker: float = 2.0  # the query names who speaks
    question: float = -0.55  # it only asks
    reply: float = 0.46  # the entry before it asks


WEIGHTS = Weights()


@dataclass(frozen=True)
class Candidate:
    """An entry that may be shown or that gives context, with its scores by each vector.

    `beside` has the entries of its thread by distance, negative before it. Without `is_shown` it is
    context only.
    """

    id: int
    text: str
    words: float = 0.0
    cosine: float | None = None
    is_shown: bool = True
    beside: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredEntry:
    """An entry and its score; higher is better, 0 is what unrelated texts have."""

    id: int
    score: float


def rank(
    query: str,
    candidates: Mapping[int, Candidate],
    calibration: Calibration,
    weights: Weights = WEIGHTS,
) -> list[ScoredEntry]:
    """Return the candidates that may be shown, the best first; of equal ones the newest."""
    asked = frozenset(word_parts(query))
    scored = [
        ScoredEntry(each.id, score(each, candidates, asked, calibration, weights))
        for each in candidates.values()
        if each.is_shown
    ]
    return sorted(scored, key=lambda entry: (-entry.score, -entry.id))


def score(
    candidate: Candidate,
    candidates: Mapping[int, Candidate],
    asked: frozenset[str],
    calibration: Calibration,
    weights: Weights = WEIGHTS,
) -> float:
    """Return the weighted sum of a candidate's signs; `asked` are the words of the query."""
    beside = {
        distance: candidates[id_] for distance, id_ in candidate.beside.items() if id_ in candidates
    }
    meaning = calibration.weight * calibration.meaning(candidate.cosine)
    nearest = (calibration.meaning(beside[n].cosine) for n in (-1, 1) if n in beside)
    before = beside.get(-1)
    return (
        weights.words * candidate.words
        + weights.words_beside * sum(each.words for each in beside.values())
        + weights.meaning * meaning
        + weights.meaning_beside * calibration.neighbour_weight * sum(nearest)
        + weights.speaker * is_speaker_asked(candidate.text, asked)
        + weights.question * is_question(candidate.text)
        + weights.reply * (before is not None and is_question(before.text))
    )


def is_question(text: str) -> bool:
    """Whether a text ends by asking."""
    return text.rstrip().endswith(QUESTION_MARKS)


def is_speaker_asked(text: str, asked: Iterable[str]) -> bool:
    """Whether the query has the name of who speaks, where the text begins with one."""
    found = SPEAKER.match(text)
    return found is not None and not set(word_parts(found[1])).isdisjoint(asked)
