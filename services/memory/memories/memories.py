"""Memories: stored in SQL first, found through Qdrant."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from services.core.clock import utc_now
from services.core.engine.query_model import QueryModel, QueryModelResolver
from services.core.errors import EntryNotFound, InvalidInput
from services.core.memories.collection import recall, spec
from services.core.memories.types import (
    DeleteResult,
    ListedMemory,
    MemoryFilters,
    MemoryHit,
    Metadata,
    StoreResult,
    UpdateResult,
    clean_tags,
    folded,
)
from services.core.serving.sessions import SessionDefaults
from services.core.vectors.protocol import VectorStore
from services.memory.projection.outbox import Outbox
from services.memory.projection.wait import wait_until_searchable
from services.memory.records.store import Records
from services.memory.records.types import Change, Criteria, Draft, Entry, EntryKind, MetadataFilter

TIME_STAYS = "the time of a memory stays as it was stored"


class Recalled(NamedTuple):
    """The memories that were found, how many the filters admit, and what went otherwise."""

    hits: list[MemoryHit]
    total: int
    degraded: Sequence[str] = ()


class Memories:
    """What the memory tools do. `taken` are collections of other kinds of entries."""

    def __init__(
        self,
        records: Records,
        outbox: Outbox,
        store: VectorStore,
        models: QueryModelResolver,
        sessions: SessionDefaults,
        collection: str,
        taken: Collection[str] = (),
    ) -> None:
        self._records = records
        self._outbox = outbox
        self._store = store
        self._models = models
        self.sessions = sessions
        self._collection = collection
        self._taken = taken

    async def store(
        self, information: str, metadata: Metadata | None, session: str | None = None
    ) -> StoreResult:
        """Commit a memory. It is kept even when Qdrant cannot take its vectors now."""
        _require_text(information)
        given = metadata or Metadata()
        draft = _draft(information, given, self.collection(session))
        [(_, uuid, _)] = await self._records.add([draft])
        result: StoreResult = {
            "ok": True,
            "id": uuid,
            "message": "Successfully stored information",
        }
        if reason := await wait_until_searchable(self._outbox, [uuid]):
            result["degraded"] = [f"stored, but not searchable yet: {reason}"]
        return result

    async def find(
        self, query: str, wanted: MemoryFilters, limit: int, session: str | None = None
    ) -> Recalled:
        """The best memories, and how many the filters admit."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        collection = self.collection(session)

        async def work(model: QueryModel) -> Recalled:
            found = await recall(self._store, model.embedder, collection, query, wanted, limit)
            return Recalled(*found, model.degraded)

        return await self._models.ask(collection, spec(self._models.embedder), work)

    async def rebuild(self) -> dict[EntryKind, int]:
        """Build the vectors of every entry anew; how many entries of each kind there are."""
        return await self._outbox.rebuild()

    @property
    def model(self) -> str:
        """The configured one."""
        return self._models.embedder.name

    async def update(
        self,
        uuid: str,
        information: str | None,
        metadata: Metadata | None,
        metadata_patch: Mapping[str, Any] | None,
    ) -> UpdateResult:
        """Change what is given of one memory, and nothing else."""
        if information is not None:
            _require_text(information)
        if metadata is not None and metadata_patch is not None:
            raise InvalidInput("metadata", "give either metadata or metadata_patch, not both")
        if information is None and metadata is None and metadata_patch is None:
            raise InvalidInput("information", "give information, metadata or metadata_patch")
        [entry] = await self._known([uuid])
        change = Change(entry.id, text=information, **_described(entry, metadata, metadata_patch))
        [(_, changed)] = await self._records.change([change], EntryKind.MEMORY)
        names = ["information" if name == "text_content" else name for name in changed]
        result: UpdateResult = {
            "ok": True,
            "id": uuid,
            "updated": [name for name in names if name != "tags"],
        }
        if reason := await wait_until_searchable(self._outbox, [uuid]):
            result["degraded"] = [f"updated, but `find` does not see it yet: {reason}"]
        return result

    async def delete(self, uuids: Sequence[str]) -> DeleteResult:
        """Delete all of these memories, or none where one is unknown."""
        entries = await self._known(uuids)
        which = Criteria(EntryKind.MEMORY, ids=[entry.id for entry in entries])
        result: DeleteResult = {"ok": True, "deleted": await self._records.remove(which)}
        if reason := await wait_until_searchable(self._outbox, [entry.uuid for entry in entries]):
            result["degraded"] = [f"deleted, but `find` still sees them: {reason}"]
        return result

    async def browse(
        self, wanted: MemoryFilters, limit: int, offset: int, session: str | None = None
    ) -> tuple[list[ListedMemory], int]:
        """One page of the memories that the filters admit, newest first, and how many these are."""
        which = _criteria(wanted, self.collection(session))
        page = await self._records.select(which, limit, offset)
        return [_listed(entry) for entry in page], await self._records.count(which)

    def collection(self, session: str | None) -> str:
        name = self.sessions.collection(session) or self._collection
        if name in self._taken:
            raise InvalidInput("collection", f"{name!r} holds entries of another kind")
        return name

    async def _known(self, uuids: Sequence[str]) -> Sequence[Entry]:
        found = await self._records.get_by_uuid(uuids, EntryKind.MEMORY)
        there = {entry.uuid for entry in found}
        unknown = [uuid for uuid in dict.fromkeys(uuids) if uuid not in there]
        if unknown:
            names = ", ".join(unknown)
            raise EntryNotFound(
                "memory_id",
                f"no memory has the id {names}; find and list_memories name ids",
                unknown=unknown,
            )
        return found


def _require_text(information: str) -> None:
    if not information.strip():
        raise InvalidInput("information", "must not be empty")


def _draft(information: str, given: Metadata, collection: str) -> Draft:
    now = utc_now()
    record = given.record(now)
    return Draft(
        kind=EntryKind.MEMORY,
        collection=collection,
        text=information,
        metadata=record,
        tags=_searchable(record.get("tags")),
        created_at=given.created_at or now,
    )


def _described(
    entry: Entry, metadata: Metadata | None, patch: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The change of metadata and tags. A given value is checked as `store` checks it."""
    if metadata is not None:
        if metadata.created_at is not None:
            raise InvalidInput("metadata.created_at", TIME_STAYS)
        record = {**metadata.described(), "created_at": entry.metadata["created_at"]}
        return {"metadata": record, "tags": _searchable(record.get("tags"))}
    if patch is None:
        return {}
    if "created_at" in patch:
        raise InvalidInput("metadata_patch.created_at", TIME_STAYS)
    checked = {**patch, **Metadata.checked(patch).described()}
    tags = {"tags": _searchable(checked["tags"])} if "tags" in checked else {}
    return {"metadata_patch": checked, **tags}


def _searchable(tags: Sequence[str] | None) -> list[str]:
    """Tags as filters compare them: without case."""
    return [folded(tag) for tag in clean_tags(tags or ())]


def _criteria(wanted: MemoryFilters, collection: str) -> Criteria:
    exact = {"kind": wanted.kind, "language": wanted.language, "topic": wanted.topic}
    filters = [MetadataFilter([key], "eq", value.strip()) for key, value in exact.items() if value]
    if wanted.priority_min is not None:
        filters.append(MetadataFilter(["priority"], "gte", wanted.priority_min))
    tags = _searchable(wanted.tags)
    return Criteria(EntryKind.MEMORY, collection=collection, tags=tags, metadata=filters)


def _listed(entry: Entry) -> ListedMemory:
    return {
        "id": entry.uuid,
        "information": entry.text,
        "metadata": dict(entry.metadata),
        "updated_at": entry.updated_at,
    }
