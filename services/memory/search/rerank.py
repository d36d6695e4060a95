"""The optional second stage: a cross-encoder orders the best anew, in time or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.core.rerank.cross_encoder import Reranker, fit_in_time

# Entries that are read again, whatever the page, so that all pages are cut from one order.
POOL = 50


@dataclass(frozen=True)
class RerankStage:
    """A reranker, and how long it may take."""

    reranker: Reranker
    deadline_seconds: float

    async def fits(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits, between 0 and 1; TimedOut when it takes too long."""
        return await fit_in_time(self.reranker, query, texts, self.deadline_seconds)
