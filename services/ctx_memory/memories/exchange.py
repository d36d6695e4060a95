"""Memories as the command line exports, imports and shows them: whole, with their ids and times."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ctx_core.clock import utc_now
from ctx_core.memories.metadata import Metadata, clean_tags, folded
from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import COLLECTION_PATTERN
from ctx_memory.memories.memories import Memories
from ctx_memory.projection.drains import wait_until_searchable
from ctx_memory.projection.outbox import Outbox
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Change, Criteria, Draft, Entry, EntryKind

TOOLSET = "memory"
MAX_PAGE = 500
IMPORT_SECONDS = 600.0  # a page of long texts on a slow machine


class ExportedMemory(BaseModel):
    """A memory with all its fields; a superseded one names its successor in the metadata."""

    id: str = Field(min_length=1, max_length=64)
    collection: str = Field(pattern=COLLECTION_PATTERN)
    information: str = Field(min_length=1)
    metadata: dict[str, Any] = {}
    created_at: datetime
    updated_at: datetime


class ExportPage(TypedDict):
    """A page of memories, oldest first; `next` is where the following one begins."""

    ok: bool
    memories: list[dict[str, Any]]
    total: int
    next: int | None


class ImportResult(TypedDict):
    """How many memories were new, replaced, or known already and kept as they are."""

    ok: bool
    added: int
    replaced: int
    kept: int
    degraded: list[str]


def exchange_tools(records: EntryRecords, outbox: Outbox, memories: Memories) -> Sequence[Tool]:
    """Return the tools of the owner's command line."""

    async def export_memories(
        after: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = MAX_PAGE,
        memory_ids: list[str] | None = None,
    ) -> ExportPage:
        """Return memories of every collection, also forgotten ones: a page, or those named."""
        if memory_ids is not None:
            named = [_out(entry) for entry in await memories.get(memory_ids)]
            return {"ok": True, "memories": named, "total": len(named), "next": None}
        page = await records.page(EntryKind.MEMORY, limit, after)
        total = await records.count(Criteria(EntryKind.MEMORY))
        following = page[-1].id if len(page) == limit else None
        return {"ok": True, "memories": [_out(e) for e in page], "total": total, "next": following}

    async def import_memories(
        exported: Annotated[list[ExportedMemory], Field(max_length=MAX_PAGE)],
        replace: bool = False,
    ) -> ImportResult:
        """Store exported memories under their ids; known ones are kept unless `replace`."""
        ids = [each.id for each in exported]
        known = {e.uuid: e for e in await records.get_by_uuid(ids, EntryKind.MEMORY)}
        new = [await memories.screen(_draft(each)) for each in exported if each.id not in known]
        await records.add(list({draft.uuid: draft for draft in new}.values()))
        changes = [_change(known[m.id], m) for m in exported if m.id in known] if replace else []
        if changes:
            await records.change(changes, EntryKind.MEMORY)
        reason = await wait_until_searchable(outbox, ids)
        return {
            "ok": True,
            "added": len(new),
            "replaced": len(changes),
            "kept": 0 if replace else len(known),
            "degraded": [f"stored, but not all searchable yet: {reason}"] if reason else [],
        }

    return [
        Tool(export_memories, "Export memories", TOOLSET, Effect.READS, IMPORT_SECONDS),
        Tool(import_memories, "Import memories", TOOLSET, Effect.REPLACES, IMPORT_SECONDS),
    ]


def _out(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.uuid,
        "collection": entry.collection,
        "information": entry.text,
        "metadata": dict(entry.metadata),
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }


def _draft(memory: ExportedMemory) -> Draft:
    record = _record(memory)
    return Draft(
        kind=EntryKind.MEMORY,
        collection=memory.collection,
        text=memory.information,
        uuid=memory.id,
        metadata=record,
        tags=_tags(record),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def _change(entry: Entry, memory: ExportedMemory) -> Change:
    record = _record(memory)
    return Change(entry.id, text=memory.information, metadata=record, tags=_tags(record))


def _record(memory: ExportedMemory) -> dict[str, Any]:
    return Metadata.checked(memory.metadata).record(utc_now())


def _tags(record: dict[str, Any]) -> list[str]:
    return [folded(tag) for tag in clean_tags(record.get("tags") or ())]
