"""Finds entries among Qdrant's points: the best of each vector, admitted by SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, Hit, MatchAny, Prefetch, Query, Vector
from services.memory.projection.outbox import Outbox
from services.memory.projection.projection import ENTRY_UUID
from services.memory.records.store import Records
from services.memory.records.types import Criteria
from services.memory.search.metadata_index import told
from services.memory.search.points import CHUNK, ID, payload_filter

FIRST_PAGE = 64  # points of the first look; enough for a few entries of a few chunks each
FIRST_FILTERED_PAGE = 256  # where SQL will leave out some
SPARE = 4  # a quarter more points than entries: some entries have several among the nearest
GROWTH = 4  # each further look takes so many times more points
LARGEST_PAGE = 4_096  # reading more payloads at once would stop the embedded engine's process
# The entries that a metadata filter admits are named to Qdrant, if they are so few: that takes
# 40 ms of 5,000. With more, pages have enough of them.
MOST_NAMED = 5_000
# SQL reads all entries to name them. Of 100,000 that takes as long as looking at so many points.
POINTS_WORTH_NAMING = 2_500


@dataclass(frozen=True)
class EntryHit:
    """An entry, the score of its best point, and which chunk that is."""

    id: int
    uuid: str
    score: float
    chunk: int


class EntrySearch:
    """What every search asks of Qdrant."""

    def __init__(
        self, store: VectorStore, records: Records, outbox: Outbox, collection: str
    ) -> None:
        self._store = store
        self._records = records
        self._outbox = outbox
        self._collection = collection

    @property
    def are_behind(self) -> bool:
        """Whether SQL has entries that Qdrant may not have yet."""
        return self._outbox.is_behind

    async def best(
        self, vectors: Mapping[str, Vector], criteria: Criteria, wanted: int
    ) -> dict[str, list[EntryHit]]:
        """For each vector the best entries that the criteria admit, each once; at least so many,
        if they exist.

        Qdrant answers all criteria but some on metadata. For those, pages of points are looked
        through, each admitted by SQL, until there are enough. Where that would go on for long and
        few entries are admitted at all, they are named to Qdrant.
        """
        is_told = len(told(criteria.metadata)) == len(criteria.metadata)
        page = FIRST_PAGE if is_told else FIRST_FILTERED_PAGE
        where = payload_filter(criteria)
        looks = {name: _Look(name, vector, wanted, where, page) for name, vector in vectors.items()}
        named = False
        while unfinished := [look for look in looks.values() if not look.is_over]:
            await self._go_on(unfinished, criteria)
            if not named and self._is_worth_naming(unfinished, criteria):
                named = True
                known = await self._records.identify(criteria, MOST_NAMED + 1)
                for look in unfinished:
                    look.narrow(known)
        return {name: sorted(look.found, key=_order) for name, look in looks.items()}

    async def _go_on(self, looks: Sequence["_Look"], criteria: Criteria) -> None:
        queries = [look.query() for look in looks]
        answers = await self._store.query_batch(self._collection, queries)
        fresh = [look.take(hits) for look, hits in zip(looks, answers, strict=True)]
        if criteria.metadata:
            ids = {item.id for near in fresh for item in near}
            admitted = await self._records.matching_ids(sorted(ids), criteria)
            fresh = [[item for item in near if item.id in admitted] for near in fresh]
        for look, near in zip(looks, fresh, strict=True):
            look.found += near

    def _is_worth_naming(self, looks: Sequence["_Look"], criteria: Criteria) -> bool:
        left = max((look.remaining for look in looks if not look.is_over), default=0)
        return bool(criteria.metadata) and left > POINTS_WORTH_NAMING


class _Look:
    """How far one vector has come."""

    def __init__(
        self, name: str, vector: Vector, wanted: int, where: Filter | None, page: int
    ) -> None:
        self._name = name
        self._vector = vector
        self._wanted = wanted
        self._where = where
        self._page = max(page, wanted + wanted // SPARE)
        self._offset = 0
        self._seen: set[str] = set()
        self._exhausted = False
        self.found: list[EntryHit] = []

    @property
    def is_over(self) -> bool:
        return self._exhausted or len(self.found) >= self._wanted

    @property
    def remaining(self) -> float:
        """How many points are probably still to be looked at, by the share that was admitted."""
        return self._offset * (self._wanted / max(len(self.found), 0.5) - 1)

    def query(self) -> Query:
        legs = [Prefetch(self._name, self._vector, self._page)]
        return Query(legs, limit=self._page, filter=self._where, offset=self._offset)

    def take(self, hits: Sequence[Hit]) -> list[EntryHit]:
        """The entries of this page that were not met before, each at its best chunk."""
        self._exhausted = len(hits) < self._page
        self._offset += self._page
        self._page = min(self._page * GROWTH, max(self._page, LARGEST_PAGE))
        fresh = []
        for hit in hits:
            uuid = hit.payload[ENTRY_UUID]
            if uuid not in self._seen:
                self._seen.add(uuid)
                fresh.append(EntryHit(hit.payload[ID], uuid, hit.score, hit.payload[CHUNK]))
        return fresh

    def narrow(self, known: Sequence[tuple[int, str]]) -> None:
        """Go on with these alone, if they are few; what was found before is nearer than them."""
        if len(known) > MOST_NAMED:
            return
        rest = [id_ for id_, uuid in known if uuid not in self._seen]
        if not rest:
            self._exhausted = True
            return
        self._where = Filter(must=[MatchAny(ID, rest)])
        self._offset = 0


def _order(item: EntryHit) -> tuple[float, int]:
    """Of equals the newest first, so that pages never overlap."""
    return -item.score, -item.id
