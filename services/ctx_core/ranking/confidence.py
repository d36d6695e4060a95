"""Turns a ranking's score into a share that means the same for every query and collection."""

import math

from ctx_core.ranking.calibration import Calibration

# The inverse document frequency of a term that one of 3,000 entries has: that many were ranked when
# the weights were fitted.
FITTED_RARITY = 7.6
MAX_SCALE = 4.0  # in a collection of few entries a shared term says less, and not nothing
WEAK = 0.5  # below it, a best result more often answers another question than this one
DIGITS = 4
LOWEST = 0.0001  # a result has a score above 0, however little it fits


def words_scale(entry_count: int) -> float:
    """Return the factor that makes BM25 scores of a small or large collection comparable.

    BM25 takes each term for common where there are few entries.
    """
    rarest = math.log(1.0 + max(entry_count - 0.5, 0.0) / 1.5)
    return min(MAX_SCALE, FITTED_RARITY / rarest) if rarest else MAX_SCALE


def confidence(score: float, calibration: Calibration) -> float:
    """Return from 0 to 1 how surely an entry with this score fits its query."""
    distance = (score - calibration.even_odds) / calibration.spread
    return max(LOWEST, round((1.0 + math.tanh(distance / 2.0)) / 2.0, DIGITS))
