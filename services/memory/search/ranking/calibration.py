"""How much the cosines of an embedding model say: models spread them differently."""

from dataclasses import dataclass

from services.core.settings.models import PROSE_MODEL, PROSE_TRANSFORMER


@dataclass(frozen=True)
class Calibration:
    """The cosine of texts that have nothing in common, and what each cosine above it weighs.

    `weight` is for the entry itself, `neighbour_weight` for an entry beside it. Half of the
    questions whose best entry has the score `even_odds` have no answer among the entries; `spread`
    is how slowly that changes.
    """

    unrelated: float
    weight: float
    neighbour_weight: float
    even_odds: float
    spread: float

    def meaning(self, cosine: float | None) -> float:
        """Return how far a cosine lies above that of unrelated texts; 0 where there is none."""
        return 0.0 if cosine is None else cosine - self.unrelated

    def similarity(self, cosine: float) -> float:
        """Return a cosine as a share from 0, for unrelated texts, to 1, for equal ones."""
        return min(1.0, max(0.0, self.meaning(cosine) / (1.0 - self.unrelated)))


# Fitted on everyday conversations, see docs/benchmarks.md. `unrelated` is the best cosine of a
# question among entries of another conversation.
CALIBRATIONS = {
    PROSE_TRANSFORMER: Calibration(0.6, 28.0, 4.0, even_odds=2.8, spread=0.8),
    PROSE_MODEL: Calibration(0.36, 3.4, 1.2, even_odds=1.6, spread=0.5),
}
# Of all-MiniLM-L6-v2: most sentence transformers spread their cosines as it does.
USUAL = Calibration(0.35, 3.4, 1.2, even_odds=1.6, spread=0.5)


def calibration(model: str) -> Calibration:
    """Return the calibration of a model, the usual one where it was never measured."""
    return CALIBRATIONS.get(model, USUAL)
