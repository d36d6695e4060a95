"""Qdrant as a server, or a cluster of them, by its URL."""

import asyncio
import math
import ssl
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from qdrant_client import AsyncQdrantClient, models

from services.core.errors import StorageFailed
from services.core.vectors import checks, server_types
from services.core.vectors.model import (
    CollectionInfo,
    CollectionSpec,
    FacetCount,
    Filter,
    Hit,
    OrderBy,
    Point,
    Query,
    Record,
)
from services.core.vectors.server_errors import Server, already_exists

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
        checks.collection_name(name)
        with self._server.errors(name):
            if not await self._client.collection_exists(name):
                await self._create(name, spec)
        stored = (await self.collection_info(name)).spec
        checks.same_shape(name, stored, spec)
        with self._server.errors(name):
            if spec.model and not stored.model:
                metadata = server_types.metadata(spec.model)
                await self._client.update_collection(name, metadata=metadata)
            for field, kind in spec.indexes.items():
                if stored.indexes.get(field) != kind:
                    schema = server_types.index(kind)
                    await self._client.create_payload_index(name, field, schema, wait=True)

    async def _create(self, name: str, spec: CollectionSpec) -> None:
        """Another process may create it in the same moment, and then it is there."""
        with already_exists():
            await self._client.create_collection(
                name,
                vectors_config=server_types.vectors(spec),
                sparse_vectors_config=server_types.sparse_vectors(spec),
                metadata=server_types.metadata(spec.model),
            )

    async def delete_collection(self, name: str) -> bool:
        checks.collection_name(name)
        with self._server.errors(name):
            return await self._client.delete_collection(name)

    async def list_collections(self) -> Sequence[CollectionInfo]:
        with self._server.errors():
            found = await self._client.get_collections()
        names = sorted(each.name for each in found.collections)
        slots = asyncio.Semaphore(LIST_WIDTH)

        async def one(name: str) -> CollectionInfo:
            async with slots:
                return await self.collection_info(name)

        return await asyncio.gather(*(one(name) for name in names))

    async def collection_info(self, name: str) -> CollectionInfo:
        with self._server.errors(name):
            found = await self._client.get_collection(name)
            # The server's own number of points is an estimate while it optimises.
            counted = await self._client.count(name, exact=True)
            return server_types.info(name, found, counted.count)

    # --- writing ---------------------------------------------------------------------------

    async def upsert(self, collection: str, points: Sequence[Point]) -> None:
        if not points:
            await self.collection_info(collection)
            return
        for batch in _batches(points):
            with self._server.errors(collection):
                structs = [server_types.point(each) for each in batch]
                await self._client.upsert(collection, structs, wait=True)

    async def delete(self, collection: str, where: Filter) -> None:
        checks.selective(where)
        with self._server.errors(collection):
            selector = models.FilterSelector(filter=server_types.selection(where))
            await self._client.delete(collection, selector, wait=True)

    # --- reading ---------------------------------------------------------------------------

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        wanted = list(dict.fromkeys(checks.point_id(each) for each in ids))
        with self._server.errors(collection):
            found = await self._client.retrieve(
                collection, wanted, with_payload=True if fields is None else list(fields)
            )
        by_id = {record.id: record for record in map(server_types.record, found)}
        return [by_id[each] for each in wanted if each in by_id]

    async def scroll(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        limit: int = 100,
        order_by: OrderBy | None = None,
        offset: str | None = None,
    ) -> tuple[Sequence[Record], str | None]:
        checks.scroll(limit, order_by, offset)
        with self._server.errors(collection):
            found, following = await self._client.scroll(
                collection,
                scroll_filter=server_types.filters(where),
                limit=limit,
                order_by=server_types.order(order_by),
                offset=None if offset is None else checks.point_id(offset),
            )
        records = [server_types.record(each) for each in found]
        return records, None if following is None else str(following)

    async def count(self, collection: str, where: Filter | None = None) -> int:
        with self._server.errors(collection):
            found = await self._client.count(collection, server_types.filters(where), exact=True)
            return found.count

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        checks.positive("limit", limit)
        with self._server.errors(collection):
            found = await self._client.facet(
                collection, field, server_types.filters(where), limit=limit, exact=True
            )
            return server_types.facets(found)

    async def query(self, collection: str, query: Query) -> Sequence[Hit]:
        [hits] = await self.query_batch(collection, [query])
        return hits

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        for query in queries:
            checks.query(query)
        with self._server.errors(collection):
            requests = [server_types.query(query) for query in queries]
            found = await self._client.query_batch_points(collection, requests)
            return [[server_types.hit(hit) for hit in each.points] for each in found]

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
        size = server_types.size(point)
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
