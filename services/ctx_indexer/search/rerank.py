"""Blends the scores of a cross-encoder, which reads the best candidates, into the ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ctx_core.rerank.reranker import RerankStage
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.rules import Ranked


class RerankScore(NamedTuple):
    """The cross-encoder's score of a hit, and that score blended with its rank score; 0 to 1."""

    cross_encoder: float
    blended: float


@dataclass(frozen=True)
class CodeReranker:
    """The reranking stage, its share of a score, and the boost of definitions."""

    stage: RerankStage
    blend: float
    symbol_boost: float

    async def score(
        self,
        query: ParsedQuery,
        ranked: Sequence[Ranked],
        texts: Sequence[str],
        within_seconds: float | None = None,
    ) -> list[RerankScore]:
        """Score the text of each candidate off the event loop. Raises TimedOut at the deadline."""
        scores = await self.stage.score(query.text, texts, within_seconds)
        return [self._blend(item, score) for item, score in zip(ranked, scores, strict=True)]

    def _blend(self, item: Ranked, score: float) -> RerankScore:
        """Blend both scores; a definition of the query's name keeps its rank by the boost."""
        blended = self.blend * score + (1 - self.blend) * bounded(item.score)
        boost = self.symbol_boost * item.rules.get("definition", 0.0)
        return RerankScore(score, (blended + boost) / (1 + self.symbol_boost))


def bounded(score: float) -> float:
    """Map a rank score, which has no upper bound, to 0 to 1 in the same order."""
    return score / (1.0 + score)
