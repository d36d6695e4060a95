"""How surely an entry fits: the cosines of each model, and a score as a share from 0 to 1."""

import math
from dataclasses import dataclass

from ctx_core.settings.models import PROSE_MODEL, PROSE_TRANSFORMER

# The inverse document frequency of a term that one of 3,000 entries has: that many were ranked when
# the weights were fitted.
FITTED_RARITY = 7.6
MAX_SCALE = 4.0  # in a collection of few entries a shared term says less, and not nothing
WEAK = 0.5  # below it, a best result more often answers another question than this one
DIGITS = 4
LOWEST = 0.0001  # a result has a score above 0, however little it fits


@dataclass(frozen=True)
class Calibration:
    """The meaning of a model's cosines: how surely an entry of 0.6 answers the question.

    `unrelated` is the best cosine of a question among many entries that do not answer it, `noise`
    the cosine of two texts that have nothing in common. The part of a cosine above `unrelated` is
    weighed by `weight`. Half of the questions whose best entry has the score `even_odds` have no
    answer among the entries; `spread` is how slowly that changes.
    """

    unrelated: float
    noise: float
    weight: float
    even_odds: float
    spread: float

    def meaning(self, cosine: float | None) -> float:
        """Return how far a cosine lies above that of unrelated texts; 0 where there is none."""
        return 0.0 if cosine is None else cosine - self.unrelated

    def similarity(self, cosine: float) -> float:
        """Return a cosine as a share from 0, for texts without anything in common, to 1."""
        return min(1.0, max(0.0, (cosine - self.noise) / (1.0 - self.noise)))


# Fitted on everyday conversations, see docs/benchmarks.md.
CALIBRATIONS = {
    PROSE_TRANSFORMER: Calibration(0.6, 0.55, 28.0, even_odds=2.8, spread=0.8),
    PROSE_MODEL: Calibration(0.36, 0.15, 3.4, even_odds=2.2, spread=0.5),
}
# Of all-MiniLM-L6-v2: most sentence transformers spread their cosines as it does.
USUAL = Calibration(0.35, 0.15, 3.4, even_odds=2.2, spread=0.5)


def calibration(model: str) -> Calibration:
    """Return the calibration of a model, the usual one where it was never measured."""
    return CALIBRATIONS.get(model, USUAL)


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
