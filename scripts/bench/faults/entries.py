"""Compares a memory server's records with what it acknowledged, and its points with its records."""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx

from scripts.bench.faults.ledger import Claim, Ledger
from scripts.bench.faults.world import MEMORY_SQLITE, World, collection

ENTRIES = "SELECT id, uuid, kind, collection, text, revision FROM entries"
OUTBOX = "SELECT count(*) FROM outbox"
COLLECTIONS = ("memory", "threads", "conversations")
SHOWN = 3  # of a kind of finding
PAGE = 1000


@dataclass(frozen=True)
class Row:
    """An entry as SQL has it."""

    id: int
    uuid: str
    kind: str
    collection: str
    text: str
    revision: int


@dataclass
class Points:
    """The points of one entry."""

    revisions: list[int] = field(default_factory=list)
    expected: int = 1


async def inspect_entries(world: World, name: str, ledger: Ledger) -> list[str]:
    """Return what does not hold of a memory server, in words."""
    rows, waiting = await _rows(world, name)
    found = _unkept(rows, ledger)
    if waiting:
        found.append(f"{waiting} rows wait in the outbox")
    for purpose in COLLECTIONS:
        physical = collection(name, purpose)
        own = {row.uuid: row for row in rows if row.collection == physical}
        found += _differences(purpose, own, await _points(world, physical))
    return [f"{name}: {each}" for each in found]


def _unkept(rows: Sequence[Row], ledger: Ledger) -> list[str]:
    """Compare acknowledged entries with SQL."""
    by_uuid = {row.uuid: row.text for row in rows}
    by_id = {row.id: row.text for row in rows}
    said = {row.text for row in rows if row.kind == "message"}
    claims: list[tuple[str, object, Claim, str | None]] = [
        ("memory", uuid, claim, by_uuid.get(uuid)) for uuid, claim in ledger.memories.items()
    ]
    claims += [("thread entry", id_, each, by_id.get(id_)) for id_, each in ledger.threads.items()]
    lost = [
        f"{kind} {key} is {text!r:.60}, acknowledged was {claim.sure!r:.60}"
        for kind, key, claim, text in claims
        if not claim.allows(text)
    ]
    for _, _, claim, text in claims:
        if claim.allows(text):
            claim.accept(text)
    lost += [f"message {text:.40} is lost" for text in ledger.messages - said]
    return lost


def _differences(purpose: str, rows: Mapping[str, Row], points: Mapping[str, Points]) -> list[str]:
    orphans = points.keys() - rows.keys()
    missing = rows.keys() - points.keys()
    wrong = [
        f"{uuid}: revisions {points[uuid].revisions} instead of {row.revision}, "
        f"{points[uuid].expected} points expected"
        for uuid, row in rows.items()
        if uuid in points
        and points[uuid].revisions != [row.revision] * max(points[uuid].expected, 1)
    ]
    found = []
    for words, which in (("orphaned", orphans), ("missing", missing), ("wrong", wrong)):
        if which:
            found.append(f"{len(which)} {words} points of {purpose}: {sorted(which)[:SHOWN]}")
    return found


# --- reading ---------------------------------------------------------------------------------


async def _rows(world: World, name: str) -> tuple[list[Row], int]:
    if name == MEMORY_SQLITE:
        return await asyncio.to_thread(_sqlite_rows, world, name)
    connection = await asyncpg.connect(world.postgres_url)
    try:
        rows = [Row(*each) for each in await connection.fetch(ENTRIES)]
        return rows, int(await connection.fetchval(OUTBOX))
    finally:
        await connection.close()


def _sqlite_rows(world: World, name: str) -> tuple[list[Row], int]:
    path = world.data(name) / "records.sqlite"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        rows = [Row(*each) for each in db.execute(ENTRIES)]
        return rows, int(db.execute(OUTBOX).fetchone()[0])


async def _points(world: World, name: str) -> dict[str, Points]:
    found: dict[str, Points] = defaultdict(Points)
    for each in await scroll(world, name, ["entry_uuid", "revision", "point_count"]):
        payload = each["payload"]
        points = found[payload.get("entry_uuid", each["id"])]
        points.revisions.append(payload["revision"])
        points.expected = payload.get("point_count", 1)
    return found


async def scroll(
    world: World, name: str, fields: Sequence[str] | None = None, *, with_vector: bool = False
) -> list[dict[str, Any]]:
    """Return every point of a collection with some or all fields; none where it does not exist."""
    found: list[dict[str, Any]] = []
    shown = {"with_payload": True if fields is None else list(fields), "with_vector": with_vector}
    offset: str | None = None
    async with httpx.AsyncClient(base_url=world.qdrant_url, trust_env=False) as client:
        while True:
            asked = {"limit": PAGE, "offset": offset, **shown}
            answer = await client.post(f"/collections/{name}/points/scroll", json=asked)
            if answer.status_code == httpx.codes.NOT_FOUND:
                return found
            result = answer.raise_for_status().json()["result"]
            found += result["points"]
            offset = result["next_page_offset"]
            if offset is None:
                return found
