"""Finds entries among Qdrant's points: the best of each vector that meet the criteria in SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctx_core.vectors.points import Hit, Vector
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, HasId, MatchAny, Query
from ctx_core.vectors.specs import BM25
from ctx_memory.projection.outbox import Outbox
from ctx_memory.projection.projection import ENTRY_UUID
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Criteria
from ctx_memory.records.passages import Passage
from ctx_memory.search.metadata_index import all_expressible
from ctx_memory.search.points import CHUNK, ID, payload_filter, point_id
from ctx_memory.search.report import note_queries
from ctx_memory.search.splitter import TextSplitter

FIRST_PAGE = 64  # points of the first page: enough for a few entries of a few chunks each
FIRST_FILTERED_PAGE = 256  # where SQL will reject some of them
SPARE_SHARE = 4  # a quarter more points than entries: some entries have several among the best
PAGE_GROWTH = 4  # factor from one page to the next
MAX_PAGE = 4_096  # reading more payloads at once would block the embedded engine's process
# Few entries that meet the criteria are listed by id in Qdrant's filter, which takes 40 ms for
# 5,000. With more of them, the pages find enough.
MAX_LISTED = 5_000
# Listing reads all entries in SQL. At 100,000 entries it takes as long as reading this many points.
POINTS_WORTH_LISTING = 2_500

MAX_SCORED_CHUNKS = 8  # of an entry that was not found by its meaning: its beginning will do


@dataclass(frozen=True)
class EntryHit:
    """An entry that a search found, its score, and the number of its best chunk.

    `uuid` is None where SQL found it.
    """

    id: int
    score: float
    uuid: str | None = None
    chunk: int = 0


class EntrySearch:
    """Searches one collection of entries by vectors."""

    def __init__(
        self,
        store: VectorStore,
        records: EntryRecords,
        outbox: Outbox,
        collection: str,
        splitter: TextSplitter,
    ) -> None:
        self._store = store
        self._records = records
        self._outbox = outbox
        self._collection = collection
        self._splitter = splitter

    @property
    def is_behind(self) -> bool:
        """Whether SQL has entries whose points may be missing in Qdrant."""
        return self._outbox.is_behind

    async def best(
        self, vectors: Mapping[str, Vector], criteria: Criteria, count: int
    ) -> dict[str, list[EntryHit]]:
        """Return per vector the best entries that meet the criteria, `count` or more if they exist.

        Qdrant answers all criteria but some on metadata. For those, pages of points are read and
        checked in SQL until there are enough. Where that would take long and few entries meet the
        criteria, Qdrant searches among those only.
        """
        is_exact = all_expressible(criteria.metadata)
        page = FIRST_PAGE if is_exact else FIRST_FILTERED_PAGE
        where = payload_filter(criteria)
        scans = {
            name: _VectorScan(name, vector, count, where, page) for name, vector in vectors.items()
        }
        is_listed = False
        while unfinished := [scan for scan in scans.values() if not scan.is_finished]:
            await self._next_pages(unfinished, criteria)
            if not is_listed and _is_worth_listing(unfinished, criteria):
                is_listed = True
                matching = await self._records.identify(criteria, MAX_LISTED + 1)
                for scan in unfinished:
                    scan.restrict_to(matching)
        return {name: sorted(scan.hits, key=_sort_key) for name, scan in scans.items()}

    async def score(
        self, vectors: Mapping[str, Vector], passages: Mapping[str, Sequence[Passage]]
    ) -> dict[str, dict[int, float]]:
        """Return by vector and id the scores of the passages' entries, each at its best chunk.

        An entry that shares no term with a query has no score by words.
        """
        owners = {name: self._points(name, passages[name]) for name in vectors}
        asked = [name for name in vectors if owners[name]]
        queries = [
            Query(
                name,
                vectors[name],
                len(owners[name]),
                filter=Filter(must=[HasId(list(owners[name]))]),
                with_payload=False,
            )
            for name in asked
        ]
        note_queries(self._collection, queries)
        answers = await self._store.query_batch(self._collection, queries) if queries else []
        scores: dict[str, dict[int, float]] = {}
        for name, hits in zip(asked, answers, strict=True):
            best = scores[name] = {}
            for hit in hits:
                id_ = owners[name][hit.id]
                best[id_] = max(hit.score, best.get(id_, hit.score))
        return scores

    def _points(self, vector: str, passages: Sequence[Passage]) -> dict[str, int]:
        """Return the ids of the points with a vector, and the entry of each."""
        return {
            point_id(each.uuid, chunk): each.id
            for each in passages
            for chunk in range(1 if vector == BM25 else self._chunk_count(each))
        }

    def _chunk_count(self, passage: Passage) -> int:
        return min(MAX_SCORED_CHUNKS, self._splitter.most_chunks(passage.length))

    async def _next_pages(self, scans: Sequence["_VectorScan"], criteria: Criteria) -> None:
        queries = [scan.query() for scan in scans]
        note_queries(self._collection, queries)
        pages = await self._store.query_batch(self._collection, queries)
        fresh = [scan.take(points) for scan, points in zip(scans, pages, strict=True)]
        if criteria.metadata:
            ids = {hit.id for hits in fresh for hit in hits}
            matching = await self._records.matching_ids(sorted(ids), criteria)
            fresh = [[hit for hit in hits if hit.id in matching] for hits in fresh]
        for scan, hits in zip(scans, fresh, strict=True):
            scan.hits += hits


class _VectorScan:
    """Reads the points of one vector page by page, the best first."""

    def __init__(
        self, name: str, vector: Vector, count: int, where: Filter | None, page: int
    ) -> None:
        self.hits: list[EntryHit] = []
        self._name = name
        self._vector = vector
        self._count = count
        self._where = where
        self._page = max(page, count + count // SPARE_SHARE)
        self._offset = 0
        self._seen: set[str] = set()
        self._is_exhausted = False

    @property
    def is_finished(self) -> bool:
        return self._is_exhausted or len(self.hits) >= self._count

    @property
    def remaining(self) -> float:
        """How many points are probably still to be read, by the share that met the criteria."""
        return self._offset * (self._count / max(len(self.hits), 0.5) - 1)

    def query(self) -> Query:
        return Query(self._name, self._vector, self._page, self._where, self._offset)

    def take(self, points: Sequence[Hit]) -> list[EntryHit]:
        """Advance by one page; return its entries that are new, each at its best chunk."""
        self._is_exhausted = len(points) < self._page
        self._offset += self._page
        self._page = min(self._page * PAGE_GROWTH, max(self._page, MAX_PAGE))
        fresh = []
        for point in points:
            uuid = point.payload[ENTRY_UUID]
            if uuid not in self._seen:
                self._seen.add(uuid)
                fresh.append(EntryHit(point.payload[ID], point.score, uuid, point.payload[CHUNK]))
        return fresh

    def restrict_to(self, matching: Sequence[tuple[int, str]]) -> None:
        """Search on among these (id, uuid) only, unless they are too many.

        Entries of earlier pages score higher than the rest, so their hits stay.
        """
        if len(matching) > MAX_LISTED:
            return
        rest = [id_ for id_, uuid in matching if uuid not in self._seen]
        if not rest:
            self._is_exhausted = True
            return
        self._where = Filter(must=[MatchAny(ID, rest)])
        self._offset = 0


def _is_worth_listing(scans: Sequence[_VectorScan], criteria: Criteria) -> bool:
    remaining = max((scan.remaining for scan in scans if not scan.is_finished), default=0)
    return bool(criteria.metadata) and remaining > POINTS_WORTH_LISTING


def _sort_key(hit: EntryHit) -> tuple[float, int]:
    """Put the newest of equal hits first, so that pages never overlap."""
    return -hit.score, -hit.id
