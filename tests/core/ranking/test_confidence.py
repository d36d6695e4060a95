"""Scores that mean the same for every query and collection."""

from itertools import pairwise

import pytest

from ctx_core.ranking.calibration import CALIBRATIONS, MAX_SCALE, WEAK, confidence, words_scale
from ctx_core.settings.models import PROSE_MODEL, PROSE_TRANSFORMER


@pytest.mark.parametrize("model", [PROSE_MODEL, PROSE_TRANSFORMER])
def test_confidence_rises_with_the_score_between_0_and_1(model: str) -> None:
    calibration = CALIBRATIONS[model]
    shares = [confidence(score, calibration) for score in (-500.0, -3.0, 0.0, 2.0, 4.0, 500.0)]
    assert all(lower <= higher for lower, higher in pairwise(shares))
    assert 0.0 < shares[0] < WEAK < shares[-2] <= shares[-1] <= 1.0
    assert confidence(calibration.even_odds, calibration) == WEAK


def test_words_count_more_where_there_are_few_entries() -> None:
    scales = [words_scale(count) for count in (0, 1, 10, 1_000, 3_000, 1_000_000)]
    assert all(fewer >= more for fewer, more in pairwise(scales))
    assert scales[0] == MAX_SCALE
    assert words_scale(3_000) == pytest.approx(1.0, abs=0.01)
