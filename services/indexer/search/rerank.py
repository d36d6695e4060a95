"""The optional second stage: a cross-encoder reads the best candidates again, in time or not at
all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.core.rerank.stage import RerankStage
from services.indexer.search.query import ParsedQuery
from services.indexer.search.ranking import Ranked


@dataclass(frozen=True)
class SearchHit:
    """A ranked result with its whole payload, and the reranker's opinion where there is one."""

    ranked: Ranked
    payload: Mapping[str, Any]
    fit: float | None = None
    blended: float | None = None

    @property
    def score(self) -> float:
        """Between 0 and 1; scores of the first stage have no upper bound, and keep their order."""
        if self.blended is not None:
            return self.blended
        return squashed(self.ranked.score)


@dataclass(frozen=True)
class CodeReranker:
    """The reranking stage, its share of a score, and the boost of definitions."""

    stage: RerankStage
    blend: float
    symbol_boost: float

    async def reordered(self, question: ParsedQuery, found: Sequence[SearchHit]) -> list[SearchHit]:
        """The same results in the order of the blended score; TimedOut when it takes too long."""
        texts = [_text(item) for item in found]
        fits = await self.stage.score(question.text, texts)
        judged = [self._judged(item, fit) for item, fit in zip(found, fits, strict=True)]
        return sorted(judged, key=lambda item: -item.score)

    def _judged(self, item: SearchHit, fit: float) -> SearchHit:
        """A definition of the very name keeps its place, whatever the reranker thinks."""
        score = self.blend * fit + (1 - self.blend) * squashed(item.ranked.score)
        boost = self.symbol_boost * item.ranked.rules.get("definition", 0.0)
        return replace(item, fit=fit, blended=(score + boost) / (1 + self.symbol_boost))


def squashed(score: float) -> float:
    return score / (1.0 + score)


def _text(item: SearchHit) -> str:
    payload = item.payload
    head = f"{payload['path']} {payload['symbol_path']}"
    return f"{head}\n{payload['text']}"
