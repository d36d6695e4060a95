"""Retrieves entries by words and by meaning, for hybrid search.

One query to Qdrant answers both where possible: its BM25 vectors rank words in a fraction of the
time of full-text search in SQL. SQL answers for words where Qdrant cannot: where it fails, where
entries wait for their points, and in languages other than English.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctx_core.clock import utc_now
from ctx_core.errors import SearchFailed
from ctx_core.ranking.period import Period, named_period
from ctx_core.ranking.scoring import Candidate
from ctx_core.vectors.points import Vector
from ctx_core.vectors.specs import BM25, DENSE
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria, moment
from ctx_memory.records.fulltext.search import TextSearch
from ctx_memory.search.context import CandidateReader
from ctx_memory.search.entry_search import EntryHit, EntrySearch
from ctx_memory.search.lexical import LexicalQuery, lexical_query
from ctx_memory.search.report import SCORE_DIGITS, elapsed_ms, failure_message
from ctx_memory.search.semantic import EmbeddedQuery, SemanticRetriever, l2_distance

FTS, SEMANTIC = "fts", "semantic"
MODES = (FTS, SEMANTIC)
QDRANT = "qdrant"
# The embedded engine blocks the event loop while it searches, 10 ms at 100,000 points. The query to
# SQL is sent before that, so that both work at the same time.
HEAD_START_SECONDS = 0.002


@dataclass(frozen=True)
class RetrieverResult:
    """The hits of one retriever by id, best first, or the reason why it failed.

    The score of a semantic hit is a distance: lower is better. `backend` is who answered: Qdrant or
    the database.
    """

    hits: Mapping[int, EntryHit] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    failure: str | None = None
    milliseconds: float = 0.0
    backend: str | None = None

    def score(self, id_: int) -> float | None:
        """Return the rounded score of an entry, None where it was not found."""
        return round(self.hits[id_].score, SCORE_DIGITS) if id_ in self.hits else None


@dataclass(frozen=True)
class Retrieved:
    """The hits of each mode, and the candidates of a ranking where Qdrant answered both modes."""

    by_mode: Mapping[str, RetrieverResult]
    candidates: Mapping[int, Candidate] = field(default_factory=dict)
    model: str = ""  # of the candidates' cosines
    period: Period | None = None  # the time that the query names

    def __getitem__(self, mode: str) -> RetrieverResult:
        return self.by_mode[mode]


class Retrievers:
    """Retrieves by words (`fts`) and by meaning (`semantic`)."""

    def __init__(
        self,
        records: EntryRecords,
        texts: TextSearch,
        semantic: SemanticRetriever,
        entry_search: EntrySearch,
    ) -> None:
        self._texts = texts
        self._semantic = semantic
        self._entry_search = entry_search
        self._candidates = CandidateReader(records, entry_search)

    async def retrieve(
        self,
        query: str,
        modes: Sequence[str],
        criteria: Criteria,
        depth: int,
        *,
        measured: bool = False,
    ) -> Retrieved:
        """Return the best `depth` entries by each mode; a mode that is not asked for has none.

        With `measured` the modes run one after the other, and each has a time of its own.
        Raises SearchFailed where every mode failed.
        """
        words = None
        if FTS in modes and not self._entry_search.is_behind:
            words = lexical_query(query, self._texts.language)
        if words is None:
            found = Retrieved(await self._separately(query, modes, criteria, depth))
        else:
            found = await self._in_one_query(query, words, modes, criteria, depth, measured)
        results = found.by_mode
        failures = [each.failure for each in results.values() if each.failure is not None]
        if len(failures) == len(results):
            raise SearchFailed(f"No search was possible: {'; '.join(failures)}")
        every = {mode: results.get(mode, RetrieverResult()) for mode in MODES}
        return replace(found, by_mode=every)

    async def _separately(
        self, query: str, modes: Sequence[str], criteria: Criteria, depth: int
    ) -> dict[str, RetrieverResult]:
        """Retrieve by words from SQL and by meaning from Qdrant, at the same time."""
        retrievers = {FTS: self._by_words, SEMANTIC: self._by_meaning}
        running = {
            mode: retrievers[mode](query, criteria, depth) for mode in MODES if mode in modes
        }
        results = await asyncio.gather(*(_timed(mode, run) for mode, run in running.items()))
        return dict(zip(running, results, strict=True))

    async def _in_one_query(
        self,
        query: str,
        words: LexicalQuery,
        modes: Sequence[str],
        criteria: Criteria,
        depth: int,
        measured: bool,
    ) -> Retrieved:
        """Retrieve both from Qdrant; where that fails, by words from SQL."""
        start = time.perf_counter()
        try:
            return await self._by_vectors(query, words, modes, criteria, depth, measured)
        except Exception as error:  # noqa: BLE001 - whatever fails, SQL can answer
            by_words = await _timed(FTS, self._by_words(query, criteria, depth))
            reason = f"{failure_message(error, FTS)}; {self._texts.dialect} was asked instead"
            results = {FTS: replace(by_words, warnings=[reason, *by_words.warnings])}
            if SEMANTIC in modes:
                results[SEMANTIC] = _failed(error, SEMANTIC, start)
            return Retrieved(results)

    async def _by_vectors(
        self,
        query: str,
        words: LexicalQuery,
        modes: Sequence[str],
        criteria: Criteria,
        depth: int,
        measured: bool,
    ) -> Retrieved:
        start = time.perf_counter()
        bm25: dict[str, Vector] = {BM25: words.vector} if words.vector.indices else {}
        period = named_period(query, utc_now().date())

        async def by_both(embedded: EmbeddedQuery) -> Retrieved:
            vectors = {DENSE: embedded.vector, **bm25}
            embedding_ms = elapsed_ms(start)
            best, times = await self._timed_best(vectors, criteria, depth, measured)
            results = {
                FTS: _by_score(best.get(BM25, []), words, times.get(BM25, 0.0)),
                SEMANTIC: _by_distance(best[DENSE], depth, embedding_ms + times[DENSE]),
            }
            in_time = await self._in_period(vectors, criteria, period, depth)
            found = {name: [*hits, *in_time.get(name, ())] for name, hits in best.items()}
            candidates = await self._candidates.read(vectors, found, criteria)
            return Retrieved(results, candidates, embedded.model, period)

        if SEMANTIC in modes:
            return await self._semantic.with_query(query, by_both)
        best = await self._best(bm25, criteria, depth)
        return Retrieved({FTS: _by_score(best.get(BM25, []), words, elapsed_ms(start))})

    async def _timed_best(
        self, vectors: Mapping[str, Vector], criteria: Criteria, depth: int, measured: bool
    ) -> tuple[dict[str, list[EntryHit]], dict[str, float]]:
        """Return the best entries by each vector and the milliseconds that each took.

        Without `measured` one query answers all vectors, and its time is that of each.
        """
        groups = [{name: vector} for name, vector in vectors.items()] if measured else [vectors]
        best: dict[str, list[EntryHit]] = {}
        times: dict[str, float] = {}
        for group in groups:
            start = time.perf_counter()
            best |= await self._best(group, criteria, depth)
            times |= dict.fromkeys(group, elapsed_ms(start))
        return best, times

    async def _in_period(
        self, vectors: Mapping[str, Vector], criteria: Criteria, period: Period | None, depth: int
    ) -> dict[str, list[EntryHit]]:
        """Return the best entries of the time that the query names, where no filter names one."""
        if period is None or criteria.since is not None or criteria.until is not None:
            return {}
        since = None if period.since is None else moment(period.since)
        until = None if period.until is None else moment(period.until)
        return await self._best(vectors, replace(criteria, since=since, until=until), depth)

    async def _best(
        self, vectors: Mapping[str, Vector], criteria: Criteria, depth: int
    ) -> dict[str, list[EntryHit]]:
        best = await self._entry_search.best(vectors, criteria, depth)
        return {name: hits[:depth] for name, hits in best.items()}

    async def _by_words(self, query: str, criteria: Criteria, depth: int) -> RetrieverResult:
        """Retrieve entries with any of the words: few have all words of a question."""
        ranked, warnings = await self._texts.rank(query, criteria, depth)
        hits = {id_: EntryHit(id_, score) for id_, score in ranked}
        return RetrieverResult(hits, warnings, backend=self._texts.dialect)

    async def _by_meaning(self, query: str, criteria: Criteria, depth: int) -> RetrieverResult:
        async def nearest(vector: Sequence[float]) -> RetrieverResult:
            await asyncio.sleep(HEAD_START_SECONDS)
            return _by_distance(await self._semantic.nearest(vector, criteria, depth), depth)

        return await self._semantic.with_vector(query, nearest)


def _by_score(
    hits: Sequence[EntryHit], words: LexicalQuery, milliseconds: float
) -> RetrieverResult:
    by_id = {hit.id: hit for hit in hits}
    return RetrieverResult(by_id, words.warnings, milliseconds=milliseconds, backend=QDRANT)


def _by_distance(
    hits: Sequence[EntryHit], depth: int, milliseconds: float = 0.0
) -> RetrieverResult:
    by_id = {hit.id: replace(hit, score=l2_distance(hit.score)) for hit in hits[:depth]}
    return RetrieverResult(by_id, milliseconds=milliseconds, backend=QDRANT)


async def _timed(mode: str, run: Awaitable[RetrieverResult]) -> RetrieverResult:
    """Measure a retriever, and turn its error into a result."""
    start = time.perf_counter()
    try:
        result = await run
    except Exception as error:  # noqa: BLE001 - whatever fails, the other mode can answer
        return _failed(error, mode, start)
    return replace(result, milliseconds=elapsed_ms(start))


def _failed(error: Exception, mode: str, start: float) -> RetrieverResult:
    reason = failure_message(error, mode)
    return RetrieverResult(warnings=[reason], failure=reason, milliseconds=elapsed_ms(start))


@dataclass(frozen=True)
class FusedEntry:
    """An entry, its fused score, and its rank from 1 in each ranking, None where absent."""

    id: int
    score: float
    ranks: tuple[int | None, ...]


def fuse(rankings: Sequence[Sequence[int]], k: int) -> list[FusedEntry]:
    """Fuse rankings of ids: each gives 1 / (k + rank) to each of its ids, the best sum is first.

    Equal sums go by the better rank, then to the newer entry, so that pages never overlap.
    """
    ranks = [{id_: rank for rank, id_ in enumerate(ids, start=1)} for ids in rankings]
    ids = {id_ for ranking in ranks for id_ in ranking}
    return sorted((_fused(id_, ranks, k) for id_ in ids), key=_sort_key)


def _fused(id_: int, rankings: Sequence[dict[int, int]], k: int) -> FusedEntry:
    ranks = tuple(ranking.get(id_) for ranking in rankings)
    return FusedEntry(id_, sum(1 / (k + rank) for rank in ranks if rank is not None), ranks)


def _sort_key(entry: FusedEntry) -> tuple[float, int, int]:
    return -entry.score, min(rank for rank in entry.ranks if rank is not None), -entry.id
