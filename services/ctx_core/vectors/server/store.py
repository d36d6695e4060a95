"""The vector store of a Qdrant server, or a cluster of them, by its URL."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from qdrant_client import AsyncQdrantClient, models

from ctx_core.errors import CollectionNotFound, StorageFailed
from ctx_core.vectors import validation
from ctx_core.vectors.generations import is_generation, logical_name, new_generation
from ctx_core.vectors.points import FacetCount, Hit, Point, Record
from ctx_core.vectors.queries import Filter, Query
from ctx_core.vectors.server import convert
from ctx_core.vectors.server.aliases import AliasResolver
from ctx_core.vectors.server.client import open_client
from ctx_core.vectors.server.errors import (
    ErrorTranslator,
    ignore_existing,
    without_credentials,
)
from ctx_core.vectors.spec_check import check_spec
from ctx_core.vectors.specs import (
    UNDISTRIBUTED,
    CollectionInfo,
    CollectionSpec,
    Distribution,
    IndexKind,
)

# One request: small enough that encoding it as JSON pauses the event loop for less than 50 ms and
# that it stays far below the server's limit of 32 MB.
MAX_UPSERT_POINTS = 64
MAX_UPSERT_NUMBERS = 60_000
# Older servers keep no metadata of a collection.
OLDEST_VERSION = (1, 16)
DELETED_IDS = 1_000  # in one request
# Requests at the same time while listing collections.
LIST_CONCURRENCY = 8


class ServerStore:
    """The VectorStore of a Qdrant server. REST, so that one URL is all that is needed."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        translator: ErrorTranslator,
        *,
        distribution: Distribution = UNDISTRIBUTED,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._client = client
        self._distribution = distribution
        self._translator = translator
        self._aliases = AliasResolver(client)
        self._on_close = on_close
        self._is_closed = False

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        api_key: str | None = None,
        ca_cert: Path | None = None,
        timeout: float,
        hint: str = "start it, or correct QDRANT_URL; without QDRANT_URL ctx uses its own",
        proxies: bool = True,
        distribution: Distribution = UNDISTRIBUTED,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> "ServerStore":
        """Return a store that makes its first request when a method is called."""
        translator = ErrorTranslator(url=without_credentials(url), timeout=timeout, hint=hint)
        with translator.errors():
            client = open_client(url, api_key, ca_cert, timeout, proxies=proxies)
        return cls(client, translator, distribution=distribution, on_close=on_close)

    @property
    def engine(self) -> str:
        return f"server ({self._translator.url})"

    # --- collections -----------------------------------------------------------------------

    async def ensure_collection(self, name: str, spec: CollectionSpec) -> None:
        validation.check_collection_name(name)
        self._aliases.forget(name)
        async with self._physical(name) as physical:
            if physical == name and not await self._client.collection_exists(name):
                await self._create(name, spec)
        stored = (await self.collection_info(name)).spec
        check_spec(name, stored, spec)
        async with self._physical(name) as physical:
            if spec.model and not stored.model:
                metadata = convert.metadata(replace(stored, model=spec.model))
                await self._client.update_collection(physical, metadata=metadata)
            missing = {f: k for f, k in spec.indexes.items() if stored.indexes.get(f) != k}
            await self._add_indexes(physical, missing)

    async def _create(self, physical: str, spec: CollectionSpec) -> None:
        """Create a collection, unless another process has done so at the same time."""
        with ignore_existing():
            await self._client.create_collection(
                physical,
                vectors_config=convert.vectors(spec),
                sparse_vectors_config=convert.sparse_vectors(spec),
                metadata=convert.metadata(spec),
                shard_number=self._distribution.shards,
                replication_factor=self._distribution.replicas,
            )

    async def _add_indexes(self, physical: str, indexes: Mapping[str, IndexKind]) -> None:
        for field, kind in indexes.items():
            schema = convert.index(kind)
            await self._client.create_payload_index(physical, field, schema, wait=True)

    async def delete_collection(self, name: str) -> bool:
        """Delete the current collection, and an old one of the same name that an interrupted swap
        left: it would be current again."""
        validation.check_collection_name(logical_name(name))
        with self._translator.errors(name):
            listing = await self._aliases.list()
            leftovers = {name} & set(listing.others(name))
            deleted = await self._client.delete_collection(listing.physical(name))
            for each in leftovers:
                await self._client.delete_collection(each)
        self._aliases.forget(name)
        return deleted

    async def list_collections(self) -> Sequence[CollectionInfo]:
        with self._translator.errors():
            current = (await self._aliases.list()).current()
        slots = asyncio.Semaphore(LIST_CONCURRENCY)

        async def one(name: str) -> CollectionInfo:
            async with slots:
                self._aliases.remember(name, current[name])
                return await self.collection_info(name)

        return await asyncio.gather(*(one(name) for name in sorted(current)))

    async def collection_info(self, name: str) -> CollectionInfo:
        async with self._physical(name) as physical:
            response = await self._client.get_collection(physical)
            # The number of points in that response is an estimate while the server optimises.
            counted = await self._client.count(physical, exact=True)
            return convert.info(logical_name(name), response, counted.count)

    # --- replacements ----------------------------------------------------------------------

    async def build(self, name: str, spec: CollectionSpec) -> str:
        validation.check_collection_name(name)
        built = new_generation(name)
        with self._translator.errors(name):
            for leftover in (await self._aliases.list()).others(name):
                await self._client.delete_collection(leftover)
            try:
                await self._create(built, spec)
                await self._add_indexes(built, spec.indexes)
            except BaseException:  # no caller has its name yet
                await self._client.delete_collection(built)
                raise
        return built

    async def swap(self, name: str, built: str) -> None:
        with self._translator.errors(name):
            await self._aliases.set_alias(name, built)
            for leftover in (await self._aliases.list()).others(name):
                await self._client.delete_collection(leftover)

    async def resolve(self, name: str) -> str:
        with self._translator.errors(name):
            return await self._aliases.resolve(name)

    async def rebuilding(self, name: str) -> bool:
        with self._translator.errors(name):
            others = (await self._aliases.list()).others(name)
        return any(is_generation(each, name) for each in others)

    @asynccontextmanager
    async def _physical(self, name: str) -> AsyncIterator[str]:
        """Resolve a name for one request, with its errors translated.

        Where the collection is gone, as after a swap of another process, the name leaves the cache.
        """
        try:
            with self._translator.errors(logical_name(name)):
                yield await self._aliases.resolve(name)
        except CollectionNotFound:
            self._aliases.forget(name)
            raise

    # --- writing ---------------------------------------------------------------------------

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        if not points:
            await self.collection_info(collection)
            return
        for batch in _requests(points):
            async with self._physical(collection) as physical:
                structs = [convert.point(each) for each in batch]
                await self._client.upsert(physical, structs, wait=True)

    async def delete(self, collection: str, where: Filter) -> None:
        validation.check_selective(where)
        async with self._physical(collection) as physical:
            selected = convert.required_filter(where)
            if convert.names_ids(where):
                await self._delete_found(physical, selected)
                return
            selector = models.FilterSelector(filter=selected)
            await self._client.delete(physical, selector, wait=True)

    async def _delete_found(self, physical: str, selected: models.Filter) -> None:
        """Delete points by their ids, which are read first.

        Qdrant 1.17 that was killed does not start again where its log has a deletion by a filter
        that names ids.
        """
        while True:
            found, _ = await self._client.scroll(
                physical, scroll_filter=selected, limit=DELETED_IDS, with_payload=False
            )
            if not found:
                return
            ids = models.PointIdsList(points=[each.id for each in found])
            await self._client.delete(physical, ids, wait=True)

    # --- reading ---------------------------------------------------------------------------

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        unique = list(dict.fromkeys(validation.canonical_id(each) for each in ids))
        async with self._physical(collection) as physical:
            found = await self._client.retrieve(
                physical, unique, with_payload=True if fields is None else list(fields)
            )
        by_id = {record.id: record for record in map(convert.record, found)}
        return [by_id[each] for each in unique if each in by_id]

    async def scroll(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        limit: int = 100,
        offset: str | None = None,
        vectors: Sequence[str] = (),
        fields: Sequence[str] | None = None,
    ) -> tuple[Sequence[Record], str | None]:
        validation.check_positive("limit", limit)
        async with self._physical(collection) as physical:
            found, following = await self._client.scroll(
                physical,
                scroll_filter=convert.filters(where),
                limit=limit,
                offset=None if offset is None else validation.canonical_id(offset),
                with_payload=True if fields is None else bool(fields) and list(fields),
                with_vectors=list(vectors) or False,
            )
        records = [convert.record(each) for each in found]
        return records, None if following is None else str(following)

    async def count(self, collection: str, where: Filter | None = None) -> int:
        async with self._physical(collection) as physical:
            found = await self._client.count(physical, convert.filters(where), exact=True)
            return found.count

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        validation.check_positive("limit", limit)
        async with self._physical(collection) as physical:
            found = await self._client.facet(
                physical, field, convert.filters(where), limit=limit, exact=True
            )
            return convert.facets(found)

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        for query in queries:
            validation.check_query(query)
        async with self._physical(collection) as physical:
            requests = [convert.query(query) for query in queries]
            found = await self._client.query_batch_points(physical, requests)
            return [[convert.hit(hit) for hit in each.points] for each in found]

    # --- the store itself ------------------------------------------------------------------

    async def ping(self) -> None:
        """Ask for the collections: unlike the server's health check it needs the API key too."""
        if self._is_closed:
            raise StorageFailed("the vector store is closed")
        with self._translator.errors():
            await self._client.get_collections()

    async def advice(self) -> str | None:
        with self._translator.errors():
            version = (await self._client.info()).version
        if _version(version) >= OLDEST_VERSION:
            return None
        oldest = ".".join(map(str, OLDEST_VERSION))
        return (
            f"Qdrant is {version}: before {oldest} it does not keep what "
            "a collection holds; upgrade it"
        )

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._client.close()
        finally:
            if self._on_close is not None:
                await self._on_close()


def _requests(points: Sequence[Point]) -> Iterator[list[Point]]:
    """Cut points into batches that fit one request."""
    batch: list[Point] = []
    numbers = 0
    for point in points:
        size = convert.number_count(point)
        if batch and (len(batch) == MAX_UPSERT_POINTS or numbers + size > MAX_UPSERT_NUMBERS):
            yield batch
            batch, numbers = [], 0
        batch.append(point)
        numbers += size
    if batch:
        yield batch


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
