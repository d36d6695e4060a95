"""Memories: stored in SQL first, found through Qdrant."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

from services.core.access.access import current
from services.core.clock import to_iso, utc_now
from services.core.engine.query_model import QueryModel, QueryModelResolver
from services.core.errors import EntryNotFound, InvalidInput
from services.core.memories.collection import spec
from services.core.memories.finding import find_memories
from services.core.memories.types import (
    SUPERSEDED_BY,
    SUPERSEDES,
    DeleteResult,
    ListedMemory,
    Memory,
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
from services.memory.records.types import (
    AddedEntry,
    Change,
    Criteria,
    Draft,
    Entry,
    EntryKind,
    MetadataFilter,
)

NO_REDACTION = SecretScreen()
CREATED_AT_IS_FIXED = "the time of a memory stays as it was stored"
SUPERSEDES_IS_FIXED = "is given when a memory is stored; store a new one that supersedes the other"
MAX_WAITING = 50  # memories without points that `find` ranks by their words


class Recalled(NamedTuple):
    """A page of `find`: hits, how many memories pass the filters, and what was degraded.

    `is_weak` says that no memory fits the query well.
    """

    hits: Sequence[MemoryHit]
    total: int
    degraded: Sequence[str] = ()
    is_weak: bool = False


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
        self,
        information: str,
        metadata: Metadata | None,
        session: str | None = None,
        collection: str | None = None,
    ) -> StoreResult:
        """Commit a memory to SQL, and wait until it can be found.

        Where Qdrant does not take it now, it is kept and the result says `degraded`. Raises
        EntryNotFound where it supersedes an unknown memory.
        """
        _require_text(information)
        draft = _draft(information, metadata or Metadata(), self.collection(session, collection))
        screened = await self._secrets.screen(draft)
        added, written = await self._add(screened.value)
        result: StoreResult = {
            "ok": True,
            "id": added.uuid,
            "message": "Successfully stored information",
        }
        if screened.warnings:
            result["warnings"] = list(screened.warnings)
        if reason := await wait_until_searchable(self._outbox, written):
            result["degraded"] = [f"stored, but not searchable yet: {reason}"]
        return result

    async def find(
        self, query: str, filters: MemoryFilters, limit: int, session: str | None = None
    ) -> Recalled:
        """Return the best memories that pass the filters. Raises CollectionNotFound."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        collection = self.collection(session)
        now = utc_now()
        waiting = await self._waiting(query, _criteria(filters, collection, current=True))

        async def search(model: QueryModel) -> Recalled:
            found = await find_memories(
                self._store,
                model.embedder,
                collection,
                query,
                filters.filter(now),
                limit,
                now.date(),
                waiting,
            )
            return Recalled(found.hits, found.total, model.degraded, found.is_weak)

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
        [entry] = await self.get([uuid])
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
        entries = await self.get(uuids)
        criteria = Criteria(EntryKind.MEMORY, ids=[entry.id for entry in entries])
        result: DeleteResult = {"ok": True, "deleted": await self._records.remove(criteria)}
        if reason := await wait_until_searchable(self._outbox, [entry.uuid for entry in entries]):
            result["degraded"] = [f"deleted, but `find` still sees them: {reason}"]
        return result

    async def browse(
        self,
        filters: MemoryFilters,
        limit: int,
        offset: int,
        session: str | None = None,
        *,
        forgotten: bool = False,
    ) -> tuple[list[ListedMemory], int]:
        """Return a page of memories, newest first, and how many pass the filters.

        With `forgotten` those that expired or were superseded are among them.
        """
        criteria = _criteria(filters, self.collection(session), current=not forgotten)
        page = await self._records.select(criteria, limit, offset)
        return [_listed(entry) for entry in page], await self._records.count(criteria)

    async def screen(self, draft: Draft) -> Draft:
        """Redact the secrets of a draft where that is set."""
        return (await self._secrets.screen(draft)).value

    async def collections(self) -> set[str]:
        """Return the collections that hold memories, and the default one, that are reached."""
        known = {self._collection, *await self._records.collection_counts(EntryKind.MEMORY)}
        return {name for name in known if current().reaches_collection(name)}

    def collection(self, session: str | None, given: str | None = None) -> str:
        """Return the given collection or that of a session.

        Raises InvalidInput for a reserved one, NotPermitted for one that the caller does not reach.
        """
        name = given or self.sessions.collection(session) or self._collection
        current().require_collection(name)
        if name in self._reserved:
            raise InvalidInput("collection", f"{name!r} holds entries of another kind")
        return name

    async def _add(self, draft: Draft) -> tuple[AddedEntry, list[str]]:
        """Store a draft; return it and the ids of all memories whose points change."""
        superseded = draft.metadata.get(SUPERSEDES)
        if superseded is None:
            [added] = await self._records.add([draft])
            return added, [added.uuid]
        [former] = await self.get([superseded])
        uuid = str(uuid4())
        change = Change(former.id, metadata_patch={SUPERSEDED_BY: uuid})
        added = await self._records.supersede(replace(draft, uuid=uuid), change)
        return added, [added.uuid, former.uuid]

    async def _waiting(self, query: str, criteria: Criteria) -> list[Memory]:
        """Return memories with words of the query, where some lack their points."""
        if not self._outbox.is_behind:
            return []
        ranked, _ = await self._records.rank_by_words(query, criteria, MAX_WAITING)
        entries = await self._records.get([id_ for id_, _ in ranked], EntryKind.MEMORY)
        return [Memory(entry.uuid, entry.text, entry.metadata) for entry in entries]

    async def get(self, uuids: Sequence[str]) -> Sequence[Entry]:
        """Return these memories. Raises EntryNotFound if one is unknown or not reached."""
        found = await self._records.get_by_uuid(uuids, EntryKind.MEMORY)
        entries = [each for each in found if current().reaches_collection(each.collection)]
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
        _check_supersedes(record, entry, "metadata")
        return {"metadata": record, "tags": _folded_tags(record.get("tags"))}
    if patch is None:
        return {}
    if "created_at" in patch:
        raise InvalidInput("metadata_patch.created_at", CREATED_AT_IS_FIXED)
    checked = {**patch, **Metadata.checked(patch).described()}
    _check_supersedes(checked, entry, "metadata_patch")
    tags = {"tags": _folded_tags(checked["tags"])} if "tags" in checked else {}
    return {"metadata_patch": checked, **tags}


def _check_supersedes(record: Mapping[str, Any], entry: Entry, field: str) -> None:
    """Raise InvalidInput where a change names another memory to supersede."""
    if record.get(SUPERSEDES) not in (None, entry.metadata.get(SUPERSEDES)):
        raise InvalidInput(f"{field}.{SUPERSEDES}", SUPERSEDES_IS_FIXED)


def _folded_tags(tags: Sequence[str] | None) -> list[str]:
    """Return tags as filters compare them: stripped, without case, each once."""
    return [folded(tag) for tag in clean_tags(tags or ())]


def _criteria(filters: MemoryFilters, collection: str, *, current: bool) -> Criteria:
    exact = {"kind": filters.kind, "language": filters.language, "topic": filters.topic}
    metadata = [MetadataFilter([key], "eq", value.strip()) for key, value in exact.items() if value]
    if filters.priority_min is not None:
        metadata.append(MetadataFilter(["priority"], "gte", filters.priority_min))
    return Criteria(
        EntryKind.MEMORY,
        collection=collection,
        tags=_folded_tags(filters.tags),
        metadata=metadata,
        current_at=to_iso(utc_now(), "seconds") if current else None,
    )


def _listed(entry: Entry) -> ListedMemory:
    return {
        "id": entry.uuid,
        "information": entry.text,
        "metadata": dict(entry.metadata),
        "updated_at": entry.updated_at,
    }
