"""The optional second stage: a cross-encoder orders the best anew, in time or not at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.embedding.reranker import Reranker
from services.core.errors import TimedOut

# Entries that are read again, whatever the page, so that all pages are cut from one order.
POOL = 50
READ_CHARACTERS = 2_000  # of an entry: what the small cross-encoders can take in


@dataclass(frozen=True)
class SecondStage:
    """A reranker, and how long it may take."""

    reranker: Reranker
    deadline_seconds: float

    async def fits(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits, between 0 and 1; TimedOut when it takes too long."""
        read = [text[:READ_CHARACTERS] for text in texts]
        try:
            async with asyncio.timeout(self.deadline_seconds):
                return await asyncio.to_thread(self.reranker.fit, query, read)
        except TimeoutError:
            raise TimedOut(f"took longer than {self.deadline_seconds:g} s") from None
