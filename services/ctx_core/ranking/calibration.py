"""How much the cosines of an embedding model say: models spread them differently."""

from dataclasses import dataclass

from ctx_core.settings.models import PROSE_MODEL, PROSE_TRANSFORMER


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
