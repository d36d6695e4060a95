"""The part of a store of code that the call which is running may read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from ctx_core.access.access import current
from ctx_core.vectors.points import FacetCount, Hit, Record
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, MatchAny, Query
from ctx_core.vectors.specs import CollectionInfo
from ctx_indexer.schema.fields import REPO
from ctx_indexer.schema.points import holds_code

# Methods that anybody may call: they read no points and write nothing.
HARMLESS = frozenset({"engine", "resolve", "rebuilding", "ping", "advice"})


class ReachableStore:
    """Reads collections as the access of a call allows: whole, or only the repos of its projects.

    It has the reading methods of VectorStore; each raises NotPermitted for other collections.
    """

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in HARMLESS:
            return getattr(self._store, name)
        raise AttributeError(f"tools may not call {name} of the store")

    async def list_collections(self) -> Sequence[CollectionInfo]:
        """Return the collections that the call may read, whole or in part."""
        infos = await self._store.list_collections()
        limits = current().limits
        if limits is None:
            return infos
        whole = [each for each in infos if current().reaches_collection(each.name)]
        parts = [each for each in infos if each not in whole and holds_code(each)]
        if not limits.projects:
            return whole
        counted = [await self._counted(each) for each in parts]
        return [*whole, *(each for each in counted if each.points_count)]

    async def collection_info(self, name: str) -> CollectionInfo:
        """Describe a collection; of one that may be read in part, only that part is counted."""
        part = current().only_projects(name)
        info = await self._store.collection_info(name)
        return info if part is None else await self._counted(info)

    async def retrieve(
        self, collection: str, ids: Sequence[str], *, fields: Sequence[str] | None = None
    ) -> Sequence[Record]:
        """Return the points with these ids that the call may read."""
        part = current().only_projects(collection)
        if part is None:
            return await self._store.retrieve(collection, ids, fields=fields)
        read = None if fields is None else list(dict.fromkeys([*fields, REPO]))
        records = await self._store.retrieve(collection, ids, fields=read)
        return [each for each in records if each.payload.get(REPO) in part]

    async def scroll(
        self, collection: str, *, where: Filter | None = None, **how: Any
    ) -> tuple[Sequence[Record], str | None]:
        return await self._store.scroll(collection, where=_narrowed(collection, where), **how)

    async def count(self, collection: str, where: Filter | None = None) -> int:
        return await self._store.count(collection, _narrowed(collection, where))

    async def facet(
        self, collection: str, field: str, *, where: Filter | None = None, limit: int = 10
    ) -> Sequence[FacetCount]:
        where = _narrowed(collection, where)
        return await self._store.facet(collection, field, where=where, limit=limit)

    async def query_batch(
        self, collection: str, queries: Sequence[Query]
    ) -> Sequence[Sequence[Hit]]:
        narrowed = [replace(each, filter=_narrowed(collection, each.filter)) for each in queries]
        return await self._store.query_batch(collection, narrowed)

    async def _counted(self, info: CollectionInfo) -> CollectionInfo:
        count = await self.count(info.name)
        return replace(info, points_count=count, indexed_vectors_count=count)


def reachable(store: VectorStore) -> VectorStore:
    """Return the store as the calls of clients may read it."""
    return cast(VectorStore, ReachableStore(store))


def _narrowed(collection: str, where: Filter | None) -> Filter | None:
    """Add the repos that the call may read to a filter. Raises NotPermitted where it reads none."""
    part = current().only_projects(collection)
    if part is None:
        return where
    repos = MatchAny(REPO, sorted(part))
    return Filter(must=[repos] if where is None else [repos, where])
