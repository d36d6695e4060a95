"""The reranking stage of a search: a cross-encoder with a deadline, off the event loop."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import COMPUTE
from ctx_core.errors import TimedOut
from ctx_core.rerank.cross_encoder import Reranker, open_reranker

MAX_CHARACTERS = 2_000  # of a text: the small cross-encoders take in no more


@dataclass(frozen=True)
class RerankStage:
    """A cross-encoder and how long it may take."""

    reranker: Reranker
    deadline_seconds: float

    @property
    def model(self) -> str:
        return self.reranker.name

    async def score(
        self, query: str, texts: Sequence[str], within_seconds: float | None = None
    ) -> list[float]:
        """Score the beginning of each text against the query, from 0 to 1.

        Raises TimedOut at the deadline, or at an earlier one of the caller; the thread that was
        scoring ends by itself.
        """
        beginnings = [text[:MAX_CHARACTERS] for text in texts]
        deadline = min(self.deadline_seconds, within_seconds or self.deadline_seconds)
        try:
            async with asyncio.timeout(deadline):
                return await COMPUTE.run(self.reranker.score, query, beginnings)
        except TimeoutError:
            raise TimedOut(f"took longer than {deadline:g} s") from None


def open_stage(model: str | None, models_dir: Path, deadline_seconds: float) -> RerankStage | None:
    """Load the model that RERANK_MODEL names; None without one. Blocking, for seconds."""
    reranker = open_reranker(model, models_dir)
    return None if reranker is None else RerankStage(reranker, deadline_seconds)
