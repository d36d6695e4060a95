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
from services.core.secrets.screen import SecretScreen
from services.core.serving.sessions import SessionDefaults
from services.core.vectors.protocol import VectorStore
from services.memory.projection.outbox import Outbox
from services.memory.projection.wait import wait_until_searchable
from services.memory.records.store import Records
from services.memory.records.types import Change, Criteria, Draft, Entry, EntryKind, MetadataFilter

NO_REDACTION = SecretScreen()
CREATED_AT_IS_FIXED = "the time of a memory stays as it was stored"


class Recalled(NamedTuple):
    """A page of `find`: hits, how many memories pass the filters, and what was degraded."""

    hits: list[MemoryHit]
    total: int
    degraded: Sequence[str] = ()


class Memories:
    """Stores, finds, changes and lists memories.

    `reserved` are collections of entries of other kinds, which no session may choose.
    """

    def __init__(
        self,
        records: Records,
        outbox: Outbox,
        store: VectorStore,
        models: QueryModelResolver,
        sessions: SessionDefaults,
        collection: str,
        reserved: Collection[str] = (),
        secrets: SecretScreen = NO_REDACTION,
    ) -> None:
        self.sessions = sessions
        self._records = records
        self._outbox = outbox
        self._store = store
        self._models = models
        self._collection = collection
        self._reserved = reserved
        self._secrets = secrets

    async def store(
        self, information: str, metadata: Metadata | None, session: str | None = None
    ) -> StoreResult:
        """Commit a memory to SQL, and wait until it can be found.

        Where Qdrant does not take it now, it is kept and the result says `degraded`.
        """
        _require_text(information)
        draft = _draft(information, metadata or Metadata(), self.collection(session))
        screened = await self._secrets.screen(draft)
        [added] = await self._records.add([screened.value])
        result: StoreResult = {
            "ok": True,
            "id": added.uuid,
            "message": "Successfully stored information",
        }
        if screened.warnings:
            result["warnings"] = list(screened.warnings)
        if reason := await wait_until_searchable(self._outbox, [added.uuid]):
            result["degraded"] = [f"stored, but not searchable yet: {reason}"]
        return result

    async def find(
        self, query: str, filters: MemoryFilters, limit: int, session: str | None = None
    ) -> Recalled:
        """Return the best memories that pass the filters. Raises CollectionNotFound."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        collection = self.collection(session)

        async def search(model: QueryModel) -> Recalled:
            found = await recall(self._store, model.embedder, collection, query, filters, limit)
            return Recalled(*found, model.degraded)

        return await self._models.ask(collection, spec(self._models.embedder), search)

    async def update(
        self,
        uuid: str,
        information: str | None,
        metadata: Metadata | None,
        metadata_patch: Mapping[str, Any] | None,
    ) -> UpdateResult:
        """Change the given parts of one memory. Raises EntryNotFound or InvalidInput."""
        if information is not None:
            _require_text(information)
        if metadata is not None and metadata_patch is not None:
            raise InvalidInput("metadata", "give either metadata or metadata_patch, not both")
        if information is None and metadata is None and metadata_patch is None:
            raise InvalidInput("information", "give information, metadata or metadata_patch")
        [entry] = await self._get([uuid])
        fields = _metadata_change(entry, metadata, metadata_patch)
        screened = await self._secrets.screen(Change(entry.id, text=information, **fields))
        [changed] = await self._records.change([screened.value], EntryKind.MEMORY)
        names = ["information" if name == "text_content" else name for name in changed.fields]
        result: UpdateResult = {
            "ok": True,
            "id": uuid,
            "updated": [name for name in names if name != "tags"],
        }
        if screened.warnings:
            result["warnings"] = list(screened.warnings)
        if reason := await wait_until_searchable(self._outbox, [uuid]):
            result["degraded"] = [f"updated, but `find` does not see it yet: {reason}"]
        return result

    async def delete(self, uuids: Sequence[str]) -> DeleteResult:
        """Delete all of these memories. Raises EntryNotFound, deleting none, if one is unknown."""
        entries = await self._get(uuids)
        criteria = Criteria(EntryKind.MEMORY, ids=[entry.id for entry in entries])
        result: DeleteResult = {"ok": True, "deleted": await self._records.remove(criteria)}
        if reason := await wait_until_searchable(self._outbox, [entry.uuid for entry in entries]):
            result["degraded"] = [f"deleted, but `find` still sees them: {reason}"]
        return result

    async def browse(
        self, filters: MemoryFilters, limit: int, offset: int, session: str | None = None
    ) -> tuple[list[ListedMemory], int]:
        """Return a page of memories, newest first, and how many pass the filters."""
        criteria = _criteria(filters, self.collection(session))
        page = await self._records.select(criteria, limit, offset)
        return [_listed(entry) for entry in page], await self._records.count(criteria)

    def collection(self, session: str | None) -> str:
        """Return the collection of a session. Raises InvalidInput for a reserved one."""
        name = self.sessions.collection(session) or self._collection
        if name in self._reserved:
            raise InvalidInput("collection", f"{name!r} holds entries of another kind")
        return name

    async def _get(self, uuids: Sequence[str]) -> Sequence[Entry]:
        entries = await self._records.get_by_uuid(uuids, EntryKind.MEMORY)
        known = {entry.uuid for entry in entries}
        unknown = [uuid for uuid in dict.fromkeys(uuids) if uuid not in known]
        if unknown:
            names = ", ".join(unknown)
            raise EntryNotFound(
                "memory_id",
                f"no memory has the id {names}; find and list_memories name ids",
                unknown=unknown,
            )
        return entries


def _require_text(information: str) -> None:
    if not information.strip():
        raise InvalidInput("information", "must not be empty")


def _draft(information: str, metadata: Metadata, collection: str) -> Draft:
    now = utc_now()
    record = metadata.record(now)
    return Draft(
        kind=EntryKind.MEMORY,
        collection=collection,
        text=information,
        metadata=record,
        tags=_folded_tags(record.get("tags")),
        created_at=metadata.created_at or now,
    )


def _metadata_change(
    entry: Entry, metadata: Metadata | None, patch: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the fields of Change for metadata and tags, validated as `store` validates them."""
    if metadata is not None:
        if metadata.created_at is not None:
            raise InvalidInput("metadata.created_at", CREATED_AT_IS_FIXED)
        record = {**metadata.described(), "created_at": entry.metadata["created_at"]}
        return {"metadata": record, "tags": _folded_tags(record.get("tags"))}
    if patch is None:
        return {}
    if "created_at" in patch:
        raise InvalidInput("metadata_patch.created_at", CREATED_AT_IS_FIXED)
    checked = {**patch, **Metadata.checked(patch).described()}
    tags = {"tags": _folded_tags(checked["tags"])} if "tags" in checked else {}
    return {"metadata_patch": checked, **tags}


def _folded_tags(tags: Sequence[str] | None) -> list[str]:
    """Return tags as filters compare them: stripped, without case, each once."""
    return [folded(tag) for tag in clean_tags(tags or ())]


def _criteria(filters: MemoryFilters, collection: str) -> Criteria:
    exact = {"kind": filters.kind, "language": filters.language, "topic": filters.topic}
    metadata = [MetadataFilter([key], "eq", value.strip()) for key, value in exact.items() if value]
    if filters.priority_min is not None:
        metadata.append(MetadataFilter(["priority"], "gte", filters.priority_min))
    tags = _folded_tags(filters.tags)
    return Criteria(EntryKind.MEMORY, collection=collection, tags=tags, metadata=metadata)


def _listed(entry: Entry) -> ListedMemory:
    return {
        "id": entry.uuid,
        "information": entry.text,
        "metadata": dict(entry.metadata),
        "updated_at": entry.updated_at,
    }
