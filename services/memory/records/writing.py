"""Adds, changes and removes entries, each together with its outbox row, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Select, delete, func, insert, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.clock import utc_now
from services.core.errors import EntryNotFound
from services.memory.records.database import Dialect
from services.memory.records.merge_patch import merged
from services.memory.records.reading import parts
from services.memory.records.tables import entries, images, outbox, tags
from services.memory.records.types import Change, ContentType, Draft, EntryKind, Image, moment
from services.memory.records.validation import check_change, check_draft

# 7401 is our name space among PostgreSQL's advisory locks. All take them in one order, so that
# nobody waits in a ring.
LOCK_THREADS = text(
    "SELECT pg_advisory_xact_lock(7401, lock) FROM (SELECT DISTINCT hashtext(key) AS lock "
    "FROM unnest(CAST(:keys AS text[])) AS key ORDER BY lock) AS locks"
)


@dataclass
class _Standing:
    """An entry as it stands in the middle of a transaction.

    Tags and images are None where they stay as they are.
    """

    row: dict[str, Any]
    is_new: bool
    tags: Sequence[str] | None = None
    images: Sequence[Image] | None = None

    def says(self, draft: Draft) -> bool:
        """The same text from the same author."""
        said = (self.row["source"], self.row["content_hash"])
        return said == (draft.source, content_hash(draft.text))

    def set_images(self, given: Sequence[Image]) -> None:
        self.images = given
        self.row["content_type"] = (ContentType.MULTIMODAL if given else ContentType.TEXT).value

    def touch(self, now: str) -> None:
        self.row["updated_at"] = now
        self.row["revision"] += 1


def content_hash(content: str) -> str:
    return sha256(content.encode()).hexdigest()


# --- adding --------------------------------------------------------------------------------


async def add(
    connection: AsyncConnection, dialect: Dialect, drafts: Sequence[Draft]
) -> list[tuple[int, str, bool]]:
    """(id, uuid, is it new?) of each draft.

    What repeats the latest entry of its thread brings that entry up to date instead.
    """
    for draft in drafts:
        check_draft(draft, dialect)
    now = _now()
    latest = await _latest(connection, dialect, drafts)
    placed: list[tuple[_Standing, bool]] = []
    for draft in drafts:
        known = latest.get((draft.kind, draft.thread))
        if known is not None and known.says(draft):
            _repeat(known, draft, now)
            placed.append((known, False))
            continue
        standing = _new(draft, now)
        placed.append((standing, True))
        if draft.thread is not None:
            latest[draft.kind, draft.thread] = standing
    await _write(connection, list({id(each): each for each, _ in placed}.values()))
    return [(each.row["id"], each.row["uuid"], created) for each, created in placed]


def _new(draft: Draft, now: str) -> _Standing:
    row: dict[str, Any] = {
        "uuid": draft.uuid or str(uuid4()),
        "kind": draft.kind.value,
        "collection": draft.collection,
        "thread": draft.thread,
        "source": draft.source,
        "text": draft.text,
        "metadata": dict(draft.metadata),
        "importance": draft.importance,
        "scope": draft.scope,
        "content_hash": content_hash(draft.text),
        "revision": 1,
        "created_at": moment(draft.created_at) if draft.created_at else now,
        "updated_at": now,
    }
    standing = _Standing(row, is_new=True, tags=draft.tags)
    standing.set_images(draft.images)
    return standing


def _repeat(standing: _Standing, draft: Draft, now: str) -> None:
    """What the draft says beside its text replaces what the entry said."""
    if draft.metadata:
        standing.row["metadata"] = dict(draft.metadata)
    if draft.tags:
        standing.tags = draft.tags
    if draft.images:
        standing.set_images(draft.images)
    standing.touch(now)


async def _latest(
    connection: AsyncConnection, dialect: Dialect, drafts: Sequence[Draft]
) -> dict[tuple[EntryKind, str | None], _Standing]:
    """The latest entry of every thread that is added to; nobody else adds to them meanwhile."""
    threads = sorted({(draft.kind.value, draft.thread) for draft in drafts if draft.thread})
    if dialect == "postgresql":
        keys = [f"{kind}:{thread}" for kind, thread in threads]
        await connection.execute(LOCK_THREADS, {"keys": keys})
    found = {}
    for part in parts(threads):
        newest = (
            select(func.max(entries.c.id))
            .where(tuple_(entries.c.kind, entries.c.thread).in_(part))
            .group_by(entries.c.kind, entries.c.thread)
        )
        for standing in await _standing(
            connection, select(entries).where(entries.c.id.in_(newest))
        ):
            found[EntryKind(standing.row["kind"]), standing.row["thread"]] = standing
    return found


# --- changing ------------------------------------------------------------------------------


async def change(
    connection: AsyncConnection, dialect: Dialect, changes: Sequence[Change], kind: EntryKind
) -> list[tuple[int, list[str]]]:
    """(id, names of the fields that changed) of each; an unknown id fails them all."""
    for each in changes:
        check_change(each, dialect)
    now = _now()
    known: dict[int, _Standing] = {}
    for part in parts([each.id for each in changes]):
        wanted = select(entries).where(entries.c.id.in_(part), entries.c.kind == kind.value)
        known |= {each.row["id"]: each for each in await _standing(connection, wanted)}
    unknown = [each.id for each in changes if each.id not in known]
    if unknown:
        names = ", ".join(map(str, dict.fromkeys(unknown)))
        raise EntryNotFound("id", f"no entry has the id {names}", unknown=unknown)
    answers = [(each.id, _apply(known[each.id], each, now)) for each in changes]
    await _write(connection, list(known.values()))
    return answers


def _apply(standing: _Standing, given: Change, now: str) -> list[str]:
    row, changed = standing.row, []
    if given.text is not None:
        changed.append("text_content")
        digest = content_hash(given.text)
        if digest != row["content_hash"]:
            row |= {"text": given.text, "content_hash": digest, "summary": "", "summary_by": None}
    if given.metadata is not None:
        changed.append("metadata")
        row["metadata"] = dict(given.metadata)
    if given.metadata_patch is not None:
        changed.append("metadata")
        row["metadata"] = merged(row["metadata"], given.metadata_patch)
    if given.tags is not None:
        changed.append("tags")
        standing.tags = given.tags
    if given.images is not None:
        changed.append("images")
        standing.set_images(given.images)
    if changed:
        standing.touch(now)
    return changed


# --- removing ------------------------------------------------------------------------------


async def remove(connection: AsyncConnection, condition: ColumnElement[bool]) -> int:
    """How many were removed; their tags and images go with them."""
    wanted = select(entries.c.id, entries.c.uuid, entries.c.kind, entries.c.collection)
    query = wanted.where(condition).order_by(entries.c.id).with_for_update()
    rows = (await connection.execute(query)).mappings().all()
    for part in parts([row["id"] for row in rows]):
        await connection.execute(delete(entries).where(entries.c.id.in_(part)))
    await enqueue(connection, rows)
    return len(rows)


# --- both ----------------------------------------------------------------------------------


async def enqueue(connection: AsyncConnection, rows: Sequence[Any]) -> None:
    """Have the points of these entries (uuid, kind, collection) written or deleted."""
    names = ("uuid", "kind", "collection")
    if rows:
        values = [{name: row[name] for name in names} for row in rows]
        await connection.execute(insert(outbox), values)


async def _standing(connection: AsyncConnection, query: Select[Any]) -> list[_Standing]:
    """Entries that this transaction may change, locked in one order: none wait in a ring."""
    locked = query.order_by(entries.c.id).with_for_update()
    rows = (await connection.execute(locked)).mappings().all()
    return [_Standing(dict(row), is_new=False) for row in rows]


async def _write(connection: AsyncConnection, standings: Sequence[_Standing]) -> None:
    await _insert(connection, [each for each in standings if each.is_new])
    for each in standings:
        if not each.is_new:
            this = entries.c.id == each.row["id"]
            await connection.execute(update(entries).where(this).values(each.row))
    await _replace_tags(connection, standings)
    await _replace_images(connection, standings)
    await enqueue(connection, [each.row for each in standings])


async def _insert(connection: AsyncConnection, standings: Sequence[_Standing]) -> None:
    if standings:
        statement = insert(entries).returning(entries.c.id, sort_by_parameter_order=True)
        ids = await connection.execute(statement, [each.row for each in standings])
        for standing, identifier in zip(standings, ids.scalars(), strict=True):
            standing.row["id"] = identifier


async def _replace_tags(connection: AsyncConnection, standings: Sequence[_Standing]) -> None:
    changed = {each.row["id"]: each for each in standings if each.tags is not None}
    for part in parts([key for key, each in changed.items() if not each.is_new]):
        await connection.execute(delete(tags).where(tags.c.entry_id.in_(part)))
    rows = [
        {"entry_id": key, "tag": tag}
        for key, each in changed.items()
        for tag in dict.fromkeys(each.tags or ())
    ]
    if rows:
        await connection.execute(insert(tags), rows)


async def _replace_images(connection: AsyncConnection, standings: Sequence[_Standing]) -> None:
    changed = {each.row["id"]: each for each in standings if each.images is not None}
    for part in parts([key for key, each in changed.items() if not each.is_new]):
        await connection.execute(delete(images).where(images.c.entry_id.in_(part)))
    rows = [
        {
            "entry_id": key,
            "position": position,
            "mime_type": image.mime_type,
            "data": image.data,
            "metadata": None if image.metadata is None else dict(image.metadata),
        }
        for key, each in changed.items()
        for position, image in enumerate(each.images or ())
    ]
    if rows:
        await connection.execute(insert(images), rows)


def _now() -> str:
    return moment(utc_now())
