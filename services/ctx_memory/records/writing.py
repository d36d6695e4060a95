"""Adds, changes and removes entries, each with its outbox row, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Select, delete, func, insert, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.clock import utc_now
from ctx_core.errors import EntryNotFound
from ctx_memory.records.database import Dialect
from ctx_memory.records.entry import (
    AddedEntry,
    Change,
    ChangedEntry,
    ContentType,
    Draft,
    EntryKind,
    Image,
    merged,
    moment,
)
from ctx_memory.records.reading import id_batches
from ctx_memory.records.tables import deleted_entries, entries, images, outbox, tags
from ctx_memory.records.validation import check_change, check_draft

# 7401 is our name space among PostgreSQL's advisory locks. Every transaction takes them in the
# same order, so that none waits for another in a circle.
LOCK_THREADS = text(
    "SELECT pg_advisory_xact_lock(7401, lock) FROM (SELECT DISTINCT hashtext(key) AS lock "
    "FROM unnest(CAST(:keys AS text[])) AS key ORDER BY lock) AS locks"
)


@dataclass
class _EntryState:
    """An entry as a transaction is about to write it; tags and images that are None stay."""

    row: dict[str, Any]
    is_new: bool
    tags: Sequence[str] | None = None
    images: Sequence[Image] | None = None

    def is_repeated_by(self, draft: Draft) -> bool:
        """Whether the draft has the entry's text and source."""
        same = (self.row["source"], self.row["content_hash"])
        return same == (draft.source, content_hash(draft.text))

    def set_images(self, images: Sequence[Image]) -> None:
        self.images = images
        self.row["content_type"] = (ContentType.MULTIMODAL if images else ContentType.TEXT).value

    def touch(self, now: str) -> None:
        self.row["updated_at"] = now
        self.row["revision"] += 1


def content_hash(content: str) -> str:
    return sha256(content.encode()).hexdigest()


# --- adding --------------------------------------------------------------------------------


async def add(
    connection: AsyncConnection,
    dialect: Dialect,
    drafts: Sequence[Draft],
    *,
    merge_repeats: bool = True,
) -> list[AddedEntry]:
    """Insert an entry per draft.

    With `merge_repeats` a draft that repeats its thread's latest entry updates that one.
    """
    for draft in drafts:
        check_draft(draft, dialect)
    now = _now()
    latest = await _latest(connection, dialect, drafts) if merge_repeats else {}
    states: list[tuple[_EntryState, bool]] = []
    for draft in drafts:
        known = latest.get((draft.kind, draft.thread))
        if known is not None and known.is_repeated_by(draft):
            _repeat(known, draft, now)
            states.append((known, False))
            continue
        state = _new(draft, now)
        states.append((state, True))
        if merge_repeats and draft.thread is not None:
            latest[draft.kind, draft.thread] = state
    await _write(connection, list({id(state): state for state, _ in states}.values()))
    return [AddedEntry(state.row["id"], state.row["uuid"], is_new) for state, is_new in states]


def _new(draft: Draft, now: str) -> _EntryState:
    row: dict[str, Any] = {
        "uuid": draft.uuid or str(uuid4()),
        "kind": draft.kind.value,
        "collection": draft.collection,
        "thread": draft.thread,
        "source": draft.source,
        "text": draft.text,
        "metadata": dict(draft.metadata),
        "importance": draft.importance,
        "content_hash": content_hash(draft.text),
        "revision": 1,
        "created_at": moment(draft.created_at) if draft.created_at else now,
        "updated_at": moment(draft.updated_at) if draft.updated_at else now,
    }
    state = _EntryState(row, is_new=True, tags=draft.tags)
    state.set_images(draft.images)
    return state


def _repeat(state: _EntryState, draft: Draft, now: str) -> None:
    """Replace metadata, tags and images of an entry by those of the draft, where it has any."""
    if draft.metadata:
        state.row["metadata"] = dict(draft.metadata)
    if draft.tags:
        state.tags = draft.tags
    if draft.images:
        state.set_images(draft.images)
    state.touch(now)


async def _latest(
    connection: AsyncConnection, dialect: Dialect, drafts: Sequence[Draft]
) -> dict[tuple[EntryKind, str | None], _EntryState]:
    """Lock the threads of the drafts, and return the latest entry of each."""
    threads = sorted({(draft.kind.value, draft.thread) for draft in drafts if draft.thread})
    if dialect == "postgresql":
        keys = [f"{kind}:{thread}" for kind, thread in threads]
        await connection.execute(LOCK_THREADS, {"keys": keys})
    found = {}
    for batch in id_batches(threads):
        newest = (
            select(func.max(entries.c.id))
            .where(tuple_(entries.c.kind, entries.c.thread).in_(batch))
            .group_by(entries.c.kind, entries.c.thread)
        )
        for state in await _locked(connection, select(entries).where(entries.c.id.in_(newest))):
            found[EntryKind(state.row["kind"]), state.row["thread"]] = state
    return found


# --- changing ------------------------------------------------------------------------------


async def change(
    connection: AsyncConnection, dialect: Dialect, changes: Sequence[Change], kind: EntryKind
) -> list[ChangedEntry]:
    """Apply the changes. Raises EntryNotFound, and changes nothing, for an unknown id."""
    for each in changes:
        check_change(each, dialect)
    now = _now()
    known: dict[int, _EntryState] = {}
    for ids in id_batches([each.id for each in changes]):
        query = select(entries).where(entries.c.id.in_(ids), entries.c.kind == kind.value)
        known |= {state.row["id"]: state for state in await _locked(connection, query)}
    unknown = [each.id for each in changes if each.id not in known]
    if unknown:
        names = ", ".join(map(str, dict.fromkeys(unknown)))
        raise EntryNotFound("id", f"no entry has the id {names}", unknown=unknown)
    changed = [ChangedEntry(each.id, _apply(known[each.id], each, now)) for each in changes]
    await _write(connection, list(known.values()))
    return changed


def _apply(state: _EntryState, given: Change, now: str) -> list[str]:
    """Apply a change; return the names of the fields it gives, as the contract spells them."""
    row, changed = state.row, []
    if given.text is not None:
        changed.append("text_content")
        digest = content_hash(given.text)
        if digest != row["content_hash"]:
            row |= {"text": given.text, "content_hash": digest, "summary": "", "summary_by": None}
    if given.metadata is not None:
        changed.append("metadata")
        kept = {key: row["metadata"][key] for key in given.kept_keys if key in row["metadata"]}
        row["metadata"] = {**given.metadata, **kept}
    if given.metadata_patch is not None:
        changed.append("metadata")
        row["metadata"] = merged(row["metadata"], given.metadata_patch)
    if given.tags is not None:
        changed.append("tags")
        state.tags = given.tags
    if given.images is not None:
        changed += ["images", "content_type"]
        state.set_images(given.images)
    if changed:
        state.touch(now)
    return changed


# --- removing ------------------------------------------------------------------------------


async def remove(connection: AsyncConnection, condition: ColumnElement[bool]) -> int:
    """Delete entries with their tags and images; return how many."""
    columns = select(entries.c.id, entries.c.uuid, entries.c.kind, entries.c.collection)
    query = columns.where(condition).order_by(entries.c.id).with_for_update()
    rows = (await connection.execute(query)).mappings().all()
    for ids in id_batches([row["id"] for row in rows]):
        await connection.execute(delete(entries).where(entries.c.id.in_(ids)))
    if rows:
        now = moment(utc_now())
        deleted = [{"uuid": row["uuid"], "deleted_at": now} for row in rows]
        await connection.execute(insert(deleted_entries), deleted)
    await enqueue(connection, rows)
    return len(rows)


# --- shared --------------------------------------------------------------------------------


async def enqueue(connection: AsyncConnection, rows: Sequence[Any]) -> None:
    """Add an outbox row for each entry, given by uuid, kind and collection."""
    names = ("uuid", "kind", "collection")
    if rows:
        values = [{name: row[name] for name in names} for row in rows]
        await connection.execute(insert(outbox), values)


async def _locked(connection: AsyncConnection, query: Select[Any]) -> list[_EntryState]:
    """Lock entries for change, always in the order of ids, so that no transactions deadlock."""
    locked = query.order_by(entries.c.id).with_for_update()
    rows = (await connection.execute(locked)).mappings().all()
    return [_EntryState(dict(row), is_new=False) for row in rows]


async def _write(connection: AsyncConnection, states: Sequence[_EntryState]) -> None:
    await _insert(connection, [state for state in states if state.is_new])
    for state in states:
        if not state.is_new:
            same_id = entries.c.id == state.row["id"]
            await connection.execute(update(entries).where(same_id).values(state.row))
    await _replace_tags(connection, states)
    await _replace_images(connection, states)
    await enqueue(connection, [state.row for state in states])


async def _insert(connection: AsyncConnection, states: Sequence[_EntryState]) -> None:
    if states:
        statement = insert(entries).returning(entries.c.id, sort_by_parameter_order=True)
        ids = await connection.execute(statement, [state.row for state in states])
        for state, identifier in zip(states, ids.scalars(), strict=True):
            state.row["id"] = identifier


async def _replace_tags(connection: AsyncConnection, states: Sequence[_EntryState]) -> None:
    changed = {state.row["id"]: state for state in states if state.tags is not None}
    for ids in id_batches([key for key, state in changed.items() if not state.is_new]):
        await connection.execute(delete(tags).where(tags.c.entry_id.in_(ids)))
    rows = [
        {"entry_id": key, "tag": tag}
        for key, state in changed.items()
        for tag in dict.fromkeys(state.tags or ())
    ]
    if rows:
        await connection.execute(insert(tags), rows)


async def _replace_images(connection: AsyncConnection, states: Sequence[_EntryState]) -> None:
    changed = {state.row["id"]: state for state in states if state.images is not None}
    for ids in id_batches([key for key, state in changed.items() if not state.is_new]):
        await connection.execute(delete(images).where(images.c.entry_id.in_(ids)))
    rows = [
        {
            "entry_id": key,
            "position": place if image.position is None else image.position,
            "mime_type": image.mime_type,
            "data": image.data,
            "metadata": None if image.metadata is None else dict(image.metadata),
        }
        for key, state in changed.items()
        for place, image in enumerate(state.images or ())
    ]
    if rows:
        await connection.execute(insert(images), rows)


def _now() -> str:
    return moment(utc_now())
