"""Finds entries by meaning."""

import asyncio
import math
from collections.abc import Sequence

from services.core.embedding.protocol import Embedder
from services.memory.records.model import Criteria
from services.memory.threads.points import Near, Points
from services.memory.threads.vectors import DENSE


class Meaning:
    """The semantic leg of every search."""

    def __init__(self, points: Points, embedder: Embedder) -> None:
        self._points = points
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.name

    async def embed(self, query: str) -> Sequence[float]:
        vector: list[float] = (await asyncio.to_thread(self._embedder.embed_query, query)).tolist()
        return vector

    async def nearest(self, vector: Sequence[float], criteria: Criteria, wanted: int) -> list[Near]:
        """The nearest entries that the criteria admit, each once; at least so many, if they
        exist."""
        return (await self._points.best({DENSE: vector}, criteria, wanted))[DENSE]


def l2(cosine: float) -> float:
    """The distance of two unit vectors."""
    return math.sqrt(max(0.0, 2.0 - 2.0 * cosine))
