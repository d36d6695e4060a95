"""The two legs of a hybrid search: by words and by meaning, of one query to Qdrant if that can be.

Qdrant knows the words of entries too, and ranks them in a fraction of the time that full text takes
in SQL. SQL answers where Qdrant cannot: where it fails, where it has not all entries yet, and in
languages other than English.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from services.core.errors import SearchFailed
from services.core.vectors.types import BM25, DENSE, Vector
from services.memory.records.store import Records
from services.memory.records.types import Criteria
from services.memory.search.entry_search import EntryHit, EntrySearch
from services.memory.search.failures import DIGITS, milliseconds, told
from services.memory.search.lexical import Question, question
from services.memory.search.semantic import SemanticRetriever, l2

FTS, SEMANTIC = "fts", "semantic"
MODES = (FTS, SEMANTIC)
QDRANT = "qdrant"
# The embedded engine stops this process's loop while it searches, 10 ms of 100,000 points. SQL is
# asked before that, so that both work at the same time.
HEAD_START_SECONDS = 0.002


@dataclass(frozen=True)
class Hit:
    """How one leg found an entry."""

    score: float
    uuid: str | None = None
    chunk: int = 0


@dataclass(frozen=True)
class RetrieverResult:
    """What one way of looking brought, in its order, or the reason why it failed."""

    hits: Mapping[int, Hit] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    failure: str | None = None
    milliseconds: float = 0.0
    backend: str | None = None  # who answered

    def score(self, id_: int) -> float | None:
        return round(self.hits[id_].score, DIGITS) if id_ in self.hits else None


class Retrievers:
    """Looks both ways."""

    def __init__(
        self, records: Records, meaning: SemanticRetriever, points: EntrySearch, language: str
    ) -> None:
        self._records = records
        self._meaning = meaning
        self._points = points
        self._language = language

    async def run(
        self, query: str, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, RetrieverResult]:
        """A leg that is not asked for is empty; with none left it is an error."""
        asked = None
        if FTS in modes and not self._points.are_behind:
            asked = question(query, self._language)
        if asked is None:
            found = await self._apart(query, modes, criteria, depth)
        else:
            found = await self._together(query, asked, modes, criteria, depth)
        failures = [leg.failure for leg in found.values() if leg.failure is not None]
        if len(failures) == len(found):
            raise SearchFailed(f"No search was possible: {'; '.join(failures)}")
        return {name: found.get(name, RetrieverResult()) for name in MODES}

    async def _apart(
        self, query: str, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, RetrieverResult]:
        """Words of SQL, meaning of Qdrant, at the same time."""
        ways = {FTS: self._by_words, SEMANTIC: self._by_meaning}
        running = {name: ways[name](query, criteria, depth) for name in MODES if name in modes}
        legs = await asyncio.gather(*(_guarded(name, way) for name, way in running.items()))
        return dict(zip(running, legs, strict=True))

    async def _together(
        self, query: str, asked: Question, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, RetrieverResult]:
        """Both of one query to Qdrant; if that fails, words of SQL."""
        begun = time.perf_counter()
        try:
            legs = await self._by_points(query, asked, modes, criteria, depth)
        except Exception as error:  # noqa: BLE001 - whatever fails, SQL can answer
            words = await _guarded(FTS, self._by_words(query, criteria, depth))
            reason = f"{told(error, FTS)}; {self._records.dialect} was asked instead"
            found = {FTS: replace(words, warnings=[reason, *words.warnings])}
            if SEMANTIC in modes:
                found[SEMANTIC] = _failed(error, SEMANTIC, begun)
            return found
        spent = milliseconds(begun)
        return {name: replace(leg, milliseconds=spent) for name, leg in legs.items()}

    async def _by_points(
        self, query: str, asked: Question, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, RetrieverResult]:
        words_of: dict[str, Vector] = {BM25: asked.vector} if asked.vector.indices else {}

        async def look(meaning: Mapping[str, Vector]) -> dict[str, list[EntryHit]]:
            return await self._points.best({**meaning, **words_of}, criteria, depth)

        if SEMANTIC in modes:
            best = await self._meaning.ask(query, lambda vector: look({DENSE: vector}))
        else:
            best = await look({})
        words = {item.id: Hit(item.score, item.uuid) for item in best.get(BM25, [])[:depth]}
        legs = {FTS: RetrieverResult(words, asked.warnings, backend=QDRANT)}
        if SEMANTIC in modes:
            legs[SEMANTIC] = _semantic(best[DENSE], depth)
        return legs

    async def _by_words(self, query: str, criteria: Criteria, depth: int) -> RetrieverResult:
        """Any of the words counts: a question seldom has all of them in one entry."""
        hits, warnings = await self._records.rank_by_words(query, criteria, depth)
        return RetrieverResult(
            {id_: Hit(score) for id_, score in hits}, warnings, backend=self._records.dialect
        )

    async def _by_meaning(self, query: str, criteria: Criteria, depth: int) -> RetrieverResult:
        async def nearest(vector: Sequence[float]) -> RetrieverResult:
            await asyncio.sleep(HEAD_START_SECONDS)
            return _semantic(await self._meaning.nearest(vector, criteria, depth), depth)

        return await self._meaning.ask(query, nearest)


def _semantic(near: Sequence[EntryHit], depth: int) -> RetrieverResult:
    found = {item.id: Hit(l2(item.score), item.uuid, item.chunk) for item in near[:depth]}
    return RetrieverResult(found, backend=QDRANT)


async def _guarded(name: str, way: Awaitable[RetrieverResult]) -> RetrieverResult:
    begun = time.perf_counter()
    try:
        leg = await way
    except Exception as error:  # noqa: BLE001 - whatever fails, the other leg can answer
        return _failed(error, name, begun)
    return replace(leg, milliseconds=milliseconds(begun))


def _failed(error: Exception, name: str, begun: float) -> RetrieverResult:
    reason = told(error, name)
    return RetrieverResult(warnings=[reason], failure=reason, milliseconds=milliseconds(begun))
