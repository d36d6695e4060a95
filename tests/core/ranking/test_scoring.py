"""What each sign of an entry adds to its score."""

from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest

from ctx_core.ranking.calibration import CALIBRATIONS, USUAL, calibration
from ctx_core.ranking.period import Period
from ctx_core.ranking.scoring import (
    WEIGHTS,
    Candidate,
    Weights,
    is_question,
    is_speaker_asked,
    rank,
)
from ctx_core.settings.models import PROSE_MODEL, PROSE_TRANSFORMER

MAY = Period(date(2023, 5, 1), date(2023, 5, 31))
CALIBRATION = CALIBRATIONS[PROSE_TRANSFORMER]


def order(query: str, *candidates: Candidate, weights: Weights = WEIGHTS) -> list[int]:
    ranked = rank(query, {each.id: each for each in candidates}, CALIBRATION, weights, MAY)
    return [each.id for each in ranked]


def entry(id_: int, text: str = "a note", **more: Any) -> Candidate:
    return Candidate(id_, text, **{"cosine": 0.6, **more})


# For each weight: a better entry 1 and an entry 2 that lacks the sign, with their context.
SIGNS: dict[str, list[Candidate]] = {
    "words": [entry(1, words=9.0), entry(2)],
    "meaning": [entry(1, cosine=0.8), entry(2)],
    "words_beside": [
        entry(1, beside={2: 8}),
        entry(2, beside={-2: 9}),
        entry(8, words=9.0, is_shown=False),
        entry(9, is_shown=False),
    ],
    "speaker": [entry(1, "Anna: tea"), entry(2, "Boris: tea")],
    "question": [entry(1, "Tea."), entry(2, "Tea?")],
    "outside_period": [entry(1, day=date(2023, 5, 7)), entry(2, day=date(2023, 7, 7))],
    "reply": [
        entry(1, beside={-1: 8}),
        entry(2, beside={-1: 9}),
        entry(8, "Tea?", is_shown=False),
        entry(9, "Tea.", is_shown=False),
    ],
}


def test_a_time_without_entries_says_nothing() -> None:
    april, march = entry(1, day=date(2023, 4, 30)), entry(2, day=date(2023, 3, 1))
    assert order("tea", april, march) == [2, 1]


def test_every_weight_has_its_sign() -> None:
    assert SIGNS.keys() == {field.name for field in fields(Weights)}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_lifts_its_entry_and_nothing_else_does(sign: str) -> None:
    query = "What does Anna drink?"
    assert order(query, *SIGNS[sign]) == [1, 2]
    without = replace(WEIGHTS, **{sign: 0.0})
    assert order(query, *SIGNS[sign], weights=without) == [2, 1], "equal: the newer is first"


def test_context_is_not_shown() -> None:
    shown = order("tea", entry(1), entry(2, words=9.0, is_shown=False))
    assert shown == [1]


def test_an_entry_without_a_vector_counts_as_unrelated() -> None:
    assert order("tea", entry(1, cosine=0.7), entry(2, cosine=None)) == [1, 2]
    assert order("tea", entry(1, cosine=0.5), entry(2, cosine=None)) == [2, 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna: I drink tea", True),
        ("Anna Maria Weber: tea", True),
        ("ANNA: tea", True),
        ("anna said: tea", True),
        ("Boris: Anna drinks tea", False),
        ("I met Anna", False),
        ("https://anna.example", False),
        ("a long sentence about Anna: it ends", False),
        ("", False),
    ],
)
def test_who_speaks_is_a_short_name_before_a_colon(text: str, expected: bool) -> None:
    assert is_speaker_asked(text, {"what", "does", "anna", "drink"}) is expected


@pytest.mark.parametrize("text", ["Tea?", "Tea? \n", "お茶\uff1f"])
def test_questions(text: str) -> None:
    assert is_question(text)
    assert not is_question(f"{text} Yes.")


def test_a_model_that_was_never_measured_has_the_usual_calibration() -> None:
    assert calibration(PROSE_MODEL) is CALIBRATIONS[PROSE_MODEL]
    assert calibration("another/model") is USUAL


@pytest.mark.parametrize(("cosine", "share"), [(0.55, 0.0), (0.2, 0.0), (1.0, 1.0), (0.775, 0.5)])
def test_similarity_is_a_share(cosine: float, share: float) -> None:
    assert CALIBRATION.similarity(cosine) == pytest.approx(share)
