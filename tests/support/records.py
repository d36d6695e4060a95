"""Drafts and reads of thread entries, for tests of the record store."""

from typing import Any

from ctx_memory.records.entry import Criteria, Draft, Entry, EntryKind, Image
from ctx_memory.records.store import Records

PNG = Image("image/png", b"\x89PNG", {"alt": "a fox"})


def draft(text: str, thread: str | None = "t", source: str = "user", **fields: Any) -> Draft:
    kind = fields.pop("kind", EntryKind.THREAD)
    return Draft(kind, "threads", text, thread=thread, source=source, **fields)


async def one(records: Records, entry_id: int) -> Entry:
    [entry] = await records.entries.get([entry_id], EntryKind.THREAD)
    return entry


async def texts(records: Records, **criteria: Any) -> list[str]:
    found = await records.entries.select(Criteria(EntryKind.THREAD, **criteria), 100)
    return [entry.text for entry in found]
