"""Scores entries by words, meaning, the words beside them in the thread, and the kind of text."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from ctx_core.ranking.calibration import Calibration
from ctx_core.ranking.period import Period
from ctx_core.text.tokens import word_parts

NEARBY_DAYS = 7.0  # outside a period, after which most of `outside_period` counts
REACH = 2  # entries before and after that count as context; a third one adds nothing
# `Name: text`, the form in which transcripts say who speaks; a name has few words.
SPEAKER = re.compile(r"\s*([^\W\d_][\w.'-]*(?: [\w.'-]+){0,2}):\s")

QUESTION_MARKS = ("?", "\uff1f", "\u061f")  # Latin, full width, Arabic


@dataclass(frozen=True)
class Weights:
    """The addition of each sign to the score of an entry; meaning is weighed by the calibration."""

    words: float = 0.17  # of the entry's BM25 score
    words_beside: float = 0.09  # of the BM25 score of each entry up to REACH beside it
    meaning: float = 1.0
    speaker: float = 2.0  # the query names who speaks
    question: float = -0.55  # it only asks
    reply: float = 0.46  # the entry before it asks
    # Far outside the period that the query names, where another candidate is of that period. A
    # filter in its place loses entries that were noted days later.
    outside_period: float = -4.0


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
    day: date | None = None
    beside: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredEntry:
    """An entry and its score; higher is better, unrelated texts have about 0."""

    id: int
    score: float


def rank(
    query: str,
    candidates: Mapping[int, Candidate],
    calibration: Calibration,
    weights: Weights = WEIGHTS,
    period: Period | None = None,
) -> list[ScoredEntry]:
    """Return the candidates that may be shown, the best first; of equal ones the newest.

    `period` is the time that the query names.
    """
    asked = frozenset(word_parts(query))
    shown = [each for each in candidates.values() if each.is_shown]
    outside = {each.id: _outside(each, period) for each in shown}
    if 0.0 not in outside.values():  # no candidate is of that time: it says nothing
        outside = {}
    scored = [
        ScoredEntry(
            each.id,
            score(each, candidates, asked, calibration, weights)
            + weights.outside_period * outside.get(each.id, 0.0),
        )
        for each in shown
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
    before = beside.get(-1)
    return (
        weights.words * candidate.words
        + weights.words_beside * sum(each.words for each in beside.values())
        + weights.meaning * meaning
        + weights.speaker * is_speaker_asked(candidate.text, asked)
        + weights.question * is_question(candidate.text)
        + weights.reply * (before is not None and is_question(before.text))
    )


def _outside(candidate: Candidate, period: Period | None) -> float:
    """Return how far outside a period a candidate is, from 0 within it to 1 long before or after.

    1 too where it has no date.
    """
    if period is None or candidate.day is None:
        return 1.0
    return 1.0 - math.exp(-period.days_outside(candidate.day) / NEARBY_DAYS)


def is_question(text: str) -> bool:
    """Whether a text ends by asking."""
    return text.rstrip().endswith(QUESTION_MARKS)


def is_speaker_asked(text: str, asked: Iterable[str]) -> bool:
    """Whether the query has the name of who speaks, where the text begins with one."""
    found = SPEAKER.match(text)
    return found is not None and not set(word_parts(found[1])).isdisjoint(asked)
