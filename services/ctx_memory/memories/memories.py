"""Memories: stored in SQL first, found through Qdrant."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

from ctx_core.access.access import current
from ctx_core.clock import to_iso, utc_now
from ctx_core.engine.query_model import QueryModel, QueryModelResolver
from ctx_core.errors import CollectionNotFound, EntryNotFound, InvalidInput
from ctx_core.memories.collection import spec
from ctx_core.memories.finding import find_memories
from ctx_core.memories.memory import Memory, MemoryFilters
from ctx_core.memories.metadata import SUPERSEDED_BY, SUPERSEDES, Metadata
from ctx_core.memories.results import (
    DeleteResult,
    ListedMemory,
    MemoryHit,
    StoreResult,
    UpdateResult,
)
from ctx_core.secrets.screen import SecretScreen
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.text.excerpts import truncate
from ctx_core.vectors.protocol import VectorStore
from ctx_memory.memories.metadata import (
    folded_tags,
    hiding,
    metadata_change,
    refuse_superseded_by,
    text_named,
)
from ctx_memory.projection.drains import wait_until_searchable
from ctx_memory.projection.outbox import Outbox
from ctx_memory.records.entry import (
    AddedEntry,
    Change,
    Criteria,
    Draft,
    Entry,
    EntryKind,
    MetadataFilter,
)
from ctx_memory.records.store import Records

NO_REDACTION = SecretScreen()
SHOWN_ID = 64  # characters of an unknown id in an error; ours have 36
MAX_WAITING = 50  # memories without points that `find` ranks by their words


class Recalled(NamedTuple):
    """A page of `find`: hits, how many memories pass the filters, and why it is degraded.

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
        self._records = records.entries
        self._texts = records.texts
        self._counts = records.counts
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
        given = metadata or Metadata()
        refuse_superseded_by(given)
        draft = _draft(information, given, self.collection(session, collection))
        screened = await self._secrets.screen(draft)
        with text_named("information"):
            added, written, former = await self._add(screened.value)
        result: StoreResult = {
            "ok": True,
            "id": added.uuid,
            "message": "Successfully stored information",
        }
        if warnings := [*screened.warnings, *hiding(screened.value.metadata, former)]:
            result["warnings"] = warnings
        if reason := await wait_until_searchable(self._outbox, written):
            result["degraded"] = [f"stored, but not searchable yet: {reason}"]
        return result

    async def find(
        self,
        query: str,
        filters: MemoryFilters,
        limit: int,
        session: str | None = None,
        collection: str | None = None,
    ) -> Recalled:
        """Return the best memories that pass the filters. Raises CollectionNotFound."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        asked = await self._asked(session, collection)
        now = utc_now()
        waiting = await self._waiting(query, _criteria(filters, asked, current=True))

        async def search(model: QueryModel) -> Recalled:
            found = await find_memories(
                self._store,
                model.embedder,
                asked,
                query,
                filters.filter(now),
                limit,
                now.date(),
                waiting,
            )
            return Recalled(found.hits, found.total, model.degraded, found.is_weak)

        return await self._models.ask(asked, spec(self._models.embedder), search)

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
        fields = metadata_change(entry, metadata, metadata_patch)
        screened = await self._secrets.screen(Change(entry.id, text=information, **fields))
        try:
            with text_named("information"):
                [changed] = await self._records.change([screened.value], EntryKind.MEMORY)
        except EntryNotFound as error:  # deleted meanwhile
            raise _unknown([uuid], "memory_id") from error
        names = ["information" if name == "text_content" else name for name in changed.fields]
        result: UpdateResult = {
            "ok": True,
            "id": uuid,
            "updated": [name for name in names if name != "tags"],
        }
        given = screened.value.metadata or screened.value.metadata_patch or {}
        if warnings := [*screened.warnings, *hiding(given)]:
            result["warnings"] = warnings
        if reason := await wait_until_searchable(self._outbox, [uuid]):
            result["degraded"] = [f"updated, but `find` does not see it yet: {reason}"]
        return result

    async def delete(self, uuids: Sequence[str]) -> DeleteResult:
        """Delete all of these memories. Raises EntryNotFound, deleting none, if one is unknown."""
        entries = await self.get(uuids, "memory_ids")
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
        collection: str | None = None,
        *,
        forgotten: bool = False,
    ) -> tuple[list[ListedMemory], int]:
        """Return a page of memories, newest first, and how many pass the filters.

        With `forgotten` expired and superseded memories are among them. Raises as `find`.
        """
        asked = await self._asked(session, collection)
        criteria = _criteria(filters, asked, current=not forgotten)
        page = await self._records.select(criteria, limit, offset)
        return [_listed(entry) for entry in page], await self._records.count(criteria)

    async def screen(self, draft: Draft) -> Draft:
        """Redact the secrets of a draft where that is set."""
        return (await self._secrets.screen(draft)).value

    async def collections(self) -> set[str]:
        """Return the collections that hold memories, and the default one, that are reached."""
        known = {self._collection, *await self._counts.collections(EntryKind.MEMORY)}
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

    async def _asked(self, session: str | None, given: str | None) -> str:
        """Return the collection that a reader means. Raises CollectionNotFound where none is."""
        name = self.collection(session, given)
        if given and given not in (known := await self.collections()):
            raise CollectionNotFound(
                f"there is no collection {given!r} of memories; there are: "
                f"{', '.join(sorted(known))}. `store` with a collection makes one.",
                collection=given,
            )
        return name

    async def _add(self, draft: Draft) -> tuple[AddedEntry, list[str], Entry | None]:
        """Store a draft; return it, the ids of all memories whose points change, and the former."""
        superseded = draft.metadata.get(SUPERSEDES)
        if superseded is None:
            [added] = await self._records.add([draft])
            return added, [added.uuid], None
        [former] = await self.get([superseded], f"metadata.{SUPERSEDES}")
        uuid = str(uuid4())
        change = Change(former.id, metadata_patch={SUPERSEDED_BY: uuid})
        added = await self._records.supersede(replace(draft, uuid=uuid), change)
        return added, [added.uuid, former.uuid], former

    async def _waiting(self, query: str, criteria: Criteria) -> list[Memory]:
        """Return memories with words of the query, where some lack their points."""
        if not self._outbox.is_behind:
            return []
        ranked, _ = await self._texts.rank(query, criteria, MAX_WAITING)
        entries = await self._records.get([id_ for id_, _ in ranked], EntryKind.MEMORY)
        return [Memory(entry.uuid, entry.text, entry.metadata) for entry in entries]

    async def get(self, uuids: Sequence[str], field: str = "memory_id") -> Sequence[Entry]:
        """Return these memories. Raises EntryNotFound if one is unknown or not reached."""
        found = await self._records.get_by_uuid(uuids, EntryKind.MEMORY)
        entries = [each for each in found if current().reaches_collection(each.collection)]
        known = {entry.uuid for entry in entries}
        unknown = [uuid for uuid in dict.fromkeys(uuids) if uuid not in known]
        if unknown:
            raise _unknown(unknown, field)
        return entries


def _unknown(uuids: Sequence[str], field: str) -> EntryNotFound:
    shown = [truncate(uuid, SHOWN_ID) for uuid in uuids]
    message = f"no memory has the id {', '.join(shown)}; find and list_memories name ids"
    return EntryNotFound(field, message, unknown=shown)


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
        tags=folded_tags(record.get("tags")),
        created_at=metadata.created_at or now,
    )


def _criteria(filters: MemoryFilters, collection: str, *, current: bool) -> Criteria:
    exact = {"kind": filters.kind, "language": filters.language, "topic": filters.topic}
    metadata = [MetadataFilter([key], "eq", value.strip()) for key, value in exact.items() if value]
    if filters.priority_min is not None:
        metadata.append(MetadataFilter(["priority"], "gte", filters.priority_min))
    return Criteria(
        EntryKind.MEMORY,
        collection=collection,
        tags=folded_tags(filters.tags),
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
