"""Finds entries by meaning: the nearest chunks in Qdrant, admitted by SQL."""

import asyncio
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.core.asking import QueryModels
from services.core.errors import CtxError, SearchFailed
from services.core.vectors.model import CollectionSpec, Filter, Hit, Leg, MatchAny, Query
from services.core.vectors.protocol import VectorStore
from services.memory.records.model import Criteria, MetadataFilter
from services.memory.records.store import Records
from services.memory.threads.vectors import CHUNK, DENSE, ID, payload_filter
from services.memory.writers import ENTRY

FIRST_PAGE = 64  # points of the first look; enough for a few entries of a few chunks each
FIRST_FILTERED_PAGE = 256  # where SQL will leave out some
SPARE = 4  # a quarter more points than entries: some entries have several among the nearest
GROWTH = 4  # each further look takes so many times more points
LARGEST_PAGE = 4_096  # reading more payloads at once would stop the embedded engine's process
# The entries that a metadata filter admits are named to Qdrant, if they are so few: that takes
# 40 ms of 5,000. With more, pages have enough of them.
MOST_NAMED = 5_000
# Where no index serves the filter, SQL reads all entries to name them. Of 100,000 that takes as
# long as looking at so many points.
POINTS_WORTH_NAMING = 2_500


@dataclass(frozen=True)
class Near:
    """An entry, how far its best chunk is from the query, and which chunk that is."""

    id: int
    uuid: str
    distance: float
    chunk: int


@dataclass(frozen=True)
class Sought:
    """A query as a vector, for what stood behind the collection's name when it was made."""

    text: str
    physical: str
    vector: Sequence[float]


class Meaning:
    """The semantic leg of every search."""

    def __init__(
        self,
        store: VectorStore,
        models: QueryModels,
        records: Records,
        spec: CollectionSpec,
        collection: str,
        indexed: Collection[str] = (),
    ) -> None:
        """`spec` is what the configured model needs of the collection."""
        self._store = store
        self._models = models
        self._records = records
        self._spec = spec
        self._collection = collection
        self._indexed = frozenset(indexed)

    @property
    def model(self) -> str:
        return self._models.embedder.name

    async def embed(self, query: str) -> Sought:
        """With the collection's model, which is another than the configured while it is rebuilt."""
        model = await self._models.of(self._collection, self._spec)
        if model.embedder is None:
            raise SearchFailed(model.degraded[0])
        vector = await asyncio.to_thread(model.embedder.embed_query, query)
        return Sought(query, model.physical, vector.tolist())

    async def nearest(self, sought: Sought, criteria: Criteria, wanted: int) -> list[Near]:
        """The nearest entries that the criteria admit, each once; at least so many, if they exist.

        Where meanwhile a rebuild put another collection behind the name, that one is asked anew.
        """
        while True:
            try:
                near = await self._nearest(sought.vector, criteria, wanted)
            except CtxError:
                if await self._store.resolve(self._collection) == sought.physical:
                    raise
            else:
                if await self._store.resolve(self._collection) == sought.physical:
                    return near
            sought = await self.embed(sought.text)

    async def _nearest(
        self, vector: Sequence[float], criteria: Criteria, wanted: int
    ) -> list[Near]:
        """Qdrant answers all criteria but metadata. For those, pages of points are looked through,
        each admitted by SQL, until there are enough. A filter that admits few entries is handed to
        Qdrant by their ids instead, so that the pages do not go on for long.
        """
        page = FIRST_FILTERED_PAGE if criteria.metadata else FIRST_PAGE
        looking = _Looking(wanted, payload_filter(criteria), page)
        if any(self._is_indexed(each) for each in criteria.metadata):
            await self._name(looking, criteria)
        while not looking.is_over:
            near = looking.take(await self._store.query(self._collection, looking.query(vector)))
            if criteria.metadata:
                admitted = await self._records.admit([item.id for item in near], criteria)
                near = [item for item in near if item.id in admitted]
            looking.found += near
            if criteria.metadata and looking.remaining > POINTS_WORTH_NAMING:
                await self._name(looking, criteria)
        return sorted(looking.found, key=_order)

    async def _name(self, looking: "_Looking", criteria: Criteria) -> None:
        """Go on with the admitted entries alone, if they are few."""
        if not looking.is_over and not looking.named:
            looking.narrow(await self._records.identify(criteria, MOST_NAMED + 1))

    def _is_indexed(self, wanted: MetadataFilter) -> bool:
        is_text = wanted.operator == "eq" and isinstance(wanted.value, str)
        return is_text and ".".join(wanted.path) in self._indexed


class _Looking:
    """How far a search has come."""

    def __init__(self, wanted: int, where: Filter | None, page: int) -> None:
        self._wanted = wanted
        self._where = where
        self._page = max(page, wanted + wanted // SPARE)
        self._offset = 0
        self._seen: set[str] = set()
        self._exhausted = False
        self.named = False
        self.found: list[Near] = []

    @property
    def is_over(self) -> bool:
        return self._exhausted or len(self.found) >= self._wanted

    @property
    def remaining(self) -> float:
        """How many points are probably still to be looked at, by the share that was admitted."""
        return self._offset * (self._wanted / max(len(self.found), 0.5) - 1)

    def query(self, vector: Sequence[float]) -> Query:
        legs = [Leg(DENSE, vector, self._page)]
        return Query(legs, limit=self._page, filter=self._where, offset=self._offset)

    def take(self, hits: Sequence[Hit]) -> list[Near]:
        """The entries of this page that were not met before, each at its best chunk."""
        self._exhausted = len(hits) < self._page
        self._offset += self._page
        self._page = min(self._page * GROWTH, max(self._page, LARGEST_PAGE))
        fresh = []
        for hit in hits:
            uuid = hit.payload[ENTRY]
            if uuid not in self._seen:
                self._seen.add(uuid)
                fresh.append(Near(hit.payload[ID], uuid, l2(hit.score), hit.payload[CHUNK]))
        return fresh

    def narrow(self, known: Sequence[tuple[int, str]]) -> None:
        """Go on with these alone, if they are few; what was found before is nearer than them."""
        self.named = True
        if len(known) > MOST_NAMED:
            return
        rest = [id_ for id_, uuid in known if uuid not in self._seen]
        if not rest:
            self._exhausted = True
            return
        self._where = Filter(must=[MatchAny(ID, rest)])
        self._offset = 0


def _order(item: Near) -> tuple[float, int]:
    """Of equals the newest first, so that pages never overlap."""
    return item.distance, -item.id


def l2(cosine: float) -> float:
    """The distance of two unit vectors."""
    return math.sqrt(max(0.0, 2.0 - 2.0 * cosine))
