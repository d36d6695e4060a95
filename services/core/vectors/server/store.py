"""Qdrant as a server, or a cluster of them, by its URL."""

import asyncio
import math
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from qdrant_client import AsyncQdrantClient, models

from services.core.errors import CollectionNotFound, StorageFailed
from services.core.vectors import generations, validation
from services.core.vectors.server import convert
from services.core.vectors.server.aliases import ServerNames
from services.core.vectors.server.errors import Server, already_exists
from services.core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    FacetCount,
    Filter,
    Hit,
    IndexKind,
    OrderBy,
    Point,
    Query,
    Record,
)

# One request: small enough that turning it into JSON pauses the event loop for less than 50 ms
# and that it stays far below the server's limit of 32 MB.
UPSERT_POINTS = 64
UPSERT_NUMBERS = 60_000
# Older servers ignore the weights of RankFusion and say nothing.
OLDEST_VERSION = (1, 17)
# Collections asked about at the same time when listing them.
LIST_WIDTH = 8


class ServerStore:
    """The VectorStore of a Qdrant server. REST, so that one URL is all that is needed."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        server: Server,
        *,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._client = client
        self._server = server
        self._names = ServerNames(client)
        self._on_close = on_close
        self._closed = False

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
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> "ServerStore":
        """A store that has not asked the server anything yet: `ping` does."""
        server = Server(url=url, timeout=timeout, hint=hint)
        verify = _trusting(ca_cert) if ca_cert else True
        with server.errors(), _understood_warnings():
            client = AsyncQdrantClient(
                url=url,
                api_key=api_key,
                timeout=math.ceil(timeout),
                check_compatibility=False,
                verify=verify,
                trust_env=proxies,
            )
        return cls(client, server, on_close=on_close)

    @property
    def engine(self) -> str:
        return f"server ({self._server.url})"

    # --- collections -----------------------------------------------------------------------

    async def ensure_collection(self, name: str, spec: CollectionSpec) -> None:
        validation.collection_name(name)
        self._names.forget(name)
        async with self._behind(name) as physical:
            if physical == name and not await self._client.collection_exists(name):
                await self._create(name, spec)
        stored = (await self.collection_info(name)).spec
        validation.check_spec(name, stored, spec)
        async with self._behind(name) as physical:
            if spec.model and not stored.model:
                metadata = convert.metadata(replace(stored, model=spec.model))
                await self._client.update_collection(physical, metadata=metadata)
            wanted = {f: k for f, k in spec.indexes.items() if stored.indexes.get(f) != k}
            await self._index(physical, wanted)

    async def _create(self, physical: str, spec: CollectionSpec) -> None:
        """Another process may create it in the same moment, and then it is there."""
        with already_exists():
            await self._client.create_collection(
                physical,
                vectors_config=convert.vectors(spec),
                sparse_vectors_config=convert.sparse_vectors(spec),
                metadata=convert.metadata(spec),
            )

    async def _index(self, physical: str, fields: Mapping[str, IndexKind]) -> None:
        for field, kind in fields.items():
            schema = convert.index(kind)
            await self._client.create_payload_index(physical, field, schema, wait=True)

    async def delete_collection(self, name: str) -> bool:
        """With what a swap that was cut short left behind: it would come back in its place."""
        validation.collection_name(generations.logical(name))
        with self._server.errors(name):
            shown = await self._names.look()
            left = {name} & set(shown.hidden(name))
            deleted = await self._client.delete_collection(shown.behind(name))
            for each in left:
                await self._client.delete_collection(each)
        self._names.forget(name)
        return deleted

    async def list_collections(self) -> Sequence[CollectionInfo]:
        with self._server.errors():
            shown = (await self._names.look()).names()
        slots = asyncio.Semaphore(LIST_WIDTH)

        async def one(name: str) -> CollectionInfo:
            async with slots:
                self._names.learn(name, shown[name])
                return await self.collection_info(name)

        return await asyncio.gather(*(one(name) for name in sorted(shown)))

    async def collection_info(self, name: str) -> CollectionInfo:
        async with self._behind(name) as physical:
            found = await self._client.get_collection(physical)
            # The server's own number of points is an estimate while it optimises.
            counted = await self._client.count(physical, exact=True)
            return convert.info(generations.logical(name), found, counted.count)

    # --- what stands behind a name ---------------------------------------------------------

    async def build(self, name: str, spec: CollectionSpec) -> str:
        validation.collection_name(name)
        built = generations.fresh(name)
        with self._server.errors(name):
            for left in (await self._names.look()).hidden(name):
                await self._client.delete_collection(left)
            try:
                await self._create(built, spec)
                await self._index(built, spec.indexes)
            except BaseException:  # nobody else knows what it is called
                await self._client.delete_collection(built)
                raise
        return built

    async def swap(self, name: str, built: str) -> None:
        with self._server.errors(name):
            await self._names.put(name, built)
            for left in (await self._names.look()).hidden(name):
                await self._client.delete_collection(left)

    async def resolve(self, name: str) -> str:
        with self._server.errors(name):
            return await self._names.resolve(name)

    async def rebuilding(self, name: str) -> bool:
        with self._server.errors(name):
            hidden = (await self._names.look()).hidden(name)
        return any(generations.is_generation(each, name) for each in hidden)

    @asynccontextmanager
    async def _behind(self, name: str) -> AsyncIterator[str]:
        """The collection to ask. One that is gone, because another process put something else in
        its place, is looked for anew by the next call."""
        try:
            with self._server.errors(generations.logical(name)):
                yield await self._names.resolve(name)
        except CollectionNotFound:
            self._names.forget(name)
            raise

    # --- writing ---------------------------------------------------------------------------

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        if not points:
            await self.collection_info(collection)
            return
        for batch in _batches(points):
            async with self._behind(collection) as physical:
                structs = [convert.point(each) for each in batch]
                await self._client.upsert(physical, structs, wait=True)

    async def delete(self, collection: str, where: Filter) -> None:
        validation.selective(where)
        async with self._behind(collection) as physical:
            selector = models.FilterSelector(filter=convert.selection(where))
            await self._client.delete(physical, selector, wait=True)

    # --- reading ---------------------------------------------------------------------------

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        wanted = list(dict.fromkeys(validation.point_id(each) for each in ids))
        async with self._behind(collection) as physical:
            found = await self._client.retrieve(
                physical, wanted, with_payload=True if fields is None else list(fields)
            )
        by_id = {record.id: record for record in map(convert.record, found)}
        return [by_id[each] for each in wanted if each in by_id]

    async def scroll(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        limit: int = 100,
        order_by: OrderBy | None = None,
        offset: str | None = None,
        vectors: Sequence[str] = (),
    ) -> tuple[Sequence[Record], str | None]:
        validation.scroll(limit, order_by, offset)
        async with self._behind(collection) as physical:
            found, following = await self._client.scroll(
                physical,
                scroll_filter=convert.filters(where),
                limit=limit,
                order_by=convert.order(order_by),
                offset=None if offset is None else validation.point_id(offset),
                with_vectors=list(vectors) or False,
            )
        records = [convert.record(each) for each in found]
        return records, None if following is None else str(following)

    async def count(self, collection: str, where: Filter | None = None) -> int:
        async with self._behind(collection) as physical:
            found = await self._client.count(physical, convert.filters(where), exact=True)
            return found.count

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        validation.positive("limit", limit)
        async with self._behind(collection) as physical:
            found = await self._client.facet(
                physical, field, convert.filters(where), limit=limit, exact=True
            )
            return convert.facets(found)

    async def query(self, collection: str, query: Query) -> Sequence[Hit]:
        [hits] = await self.query_batch(collection, [query])
        return hits

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        for query in queries:
            validation.query(query)
        async with self._behind(collection) as physical:
            requests = [convert.query(query) for query in queries]
            found = await self._client.query_batch_points(physical, requests)
            return [[convert.hit(hit) for hit in each.points] for each in found]

    # --- the store itself ------------------------------------------------------------------

    async def ping(self) -> None:
        """Asks for the collections: unlike the server's health it also needs the API key."""
        if self._closed:
            raise StorageFailed("the vector store is closed")
        with self._server.errors():
            await self._client.get_collections()

    async def advice(self) -> str | None:
        with self._server.errors():
            version = (await self._client.info()).version
        if _version(version) >= OLDEST_VERSION:
            return None
        oldest = ".".join(map(str, OLDEST_VERSION))
        return (
            f"Qdrant at {self._server.url} is {version}: before {oldest} it ignores the weights "
            "of hybrid search; upgrade it"
        )

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._client.close()
        finally:
            if self._on_close is not None:
                await self._on_close()


def _trusting(ca_cert: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_cert)
    except OSError as error:  # an SSLError is one too
        raise StorageFailed(f"QDRANT_CA_CERT={ca_cert} cannot be used: {error}") from error


def _batches(points: Sequence[Point]) -> Iterator[list[Point]]:
    batch: list[Point] = []
    numbers = 0
    for point in points:
        size = convert.size(point)
        if batch and (len(batch) == UPSERT_POINTS or numbers + size > UPSERT_NUMBERS):
            yield batch
            batch, numbers = [], 0
        batch.append(point)
        numbers += size
    if batch:
        yield batch


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


@contextmanager
def _understood_warnings() -> Iterator[None]:
    """An API key over plain http is the operator's choice: on loopback and in a cluster."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        yield
