"""Knowledge and conventions: entries under a key of their own."""

import re
from dataclasses import dataclass, replace

from ctx_core.blocking import DISK
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope, entry_key, parse_scope
from ctx_memory.knowledge.store import KnowledgeStore

MIN_REPEATED_WORDS = 8  # a shorter text may well be meant twice


@dataclass(frozen=True)
class Added:
    """The key under which a text is stored, and whether it was there before under another one."""

    key: str
    is_repeated: bool = False


async def add_entry(
    store: KnowledgeStore,
    entry_type: EntryType,
    key: str,
    content: str,
    scope: str = "",
    author: str = "",
) -> Added:
    """Write an entry; an empty scope keeps the one it has.

    A new entry that repeats another one word for word is not stored: its key is returned.
    """
    name = entry_key(key)
    wanted = parse_scope(scope) if scope.strip() else None

    async def work() -> Added:
        existing = await store.get(entry_type, name)
        target = wanted or (existing.scope if existing else Scope.PUBLIC)
        if existing is None and (twin := await _twin(store, entry_type, content, target)):
            return Added(twin.key, is_repeated=True)
        await put_entry(store, KnowledgeEntry(entry_type, name, content, target, author))
        return Added(name)

    return await store.write(work)


async def put_entry(store: KnowledgeStore, entry: KnowledgeEntry) -> None:
    """Write an entry, and remove it from where another scope kept it. The caller holds the lock.

    A skill keeps its feedback and proposals.
    """
    own = await store.private.load(entry.type, entry.key)
    shared = await DISK.run(store.public.load, entry.type, entry.key)
    before = own or shared
    if before is not None and before.events and not entry.events:
        entry = replace(entry, events=before.events)
    await store.save(entry)
    if entry.scope is Scope.PUBLIC:
        if own is not None:
            await store.private.delete(entry.type, entry.key)
    elif own is None and shared is not None:
        await DISK.run(store.public.delete, entry.type, entry.key)


async def _twin(
    store: KnowledgeStore, entry_type: EntryType, content: str, scope: Scope
) -> KnowledgeEntry | None:
    """An entry with the same words that whoever may read the new one may read as well."""
    words = _words(content)
    if len(words) < MIN_REPEATED_WORDS:
        return None
    for entry in await store.all(entry_type):
        if entry.scope in (Scope.PUBLIC, scope) and _words(entry.content) == words:
            return entry
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
