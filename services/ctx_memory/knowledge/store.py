"""The entries of a project, wherever they live: public ones on disk, all others in SQL."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from ctx_core.blocking import DISK
from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_core.secrets.redaction import find_secrets
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope
from ctx_memory.knowledge.manifest import ensure_manifest
from ctx_memory.knowledge.private import PrivateEntries
from ctx_memory.knowledge.project import Project
from ctx_memory.knowledge.public import PublicEntries, entry_path

T = TypeVar("T")


class KnowledgeStore:
    """Reads and writes entries by type and key. An entry that is not public hides a public one."""

    def __init__(self, project: Project, private: PrivateEntries, *, auto_init: bool) -> None:
        self.project = project
        self.public = PublicEntries(project.folder)
        self.private = private
        self._auto_init = auto_init
        self.has_written = False

    # --- reading ---------------------------------------------------------------------------

    async def get(self, entry_type: EntryType, key: str) -> KnowledgeEntry | None:
        """Return an entry of any scope; None if there is none."""
        own = await self.private.load(entry_type, key)
        return own or await DISK.run(self.public.load, entry_type, key)

    async def all(self, entry_type: EntryType) -> list[KnowledgeEntry]:
        """Return the entries of a type, by key."""
        shared = await DISK.run(self.public.all, entry_type)
        entries = {entry.key: entry for entry in [*shared, *await self.private.all(entry_type)]}
        return [entries[key] for key in sorted(entries)]

    # --- writing ---------------------------------------------------------------------------

    async def write(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work while nobody else writes in this project.

        It is finished even if the caller gives up meanwhile: half of a change is never left.
        """
        return await asyncio.shield(asyncio.create_task(self._locked(work)))

    async def _locked(self, work: Callable[[], Awaitable[T]]) -> T:
        lock = await DISK.run(lambda: self.project.writing)
        async with lock.held():
            return await work()

    async def prepare_folder(self) -> None:
        """Make the folder before the first public write. The caller holds the lock."""
        await DISK.run(ensure_manifest, self.project, auto_init=self._auto_init)
        self.has_written = True

    async def save(self, entry: KnowledgeEntry) -> None:
        """Write an entry where its scope belongs. The caller holds the lock.

        Raises KnowledgeRefused if a public one seems to hold a secret.
        """
        if entry.scope is not Scope.PUBLIC:
            await self.private.save(entry)
            return
        refuse_secret(entry.content)
        await self.prepare_folder()
        await DISK.run(self.public.save, entry)

    async def remove(self, entry_type: EntryType, key: str) -> bool:
        """Delete the entry that `get` returns; return whether there was one. Holds the lock."""
        return await self.write(lambda: self._remove(entry_type, key))

    async def _remove(self, entry_type: EntryType, key: str) -> bool:
        if await self.private.delete(entry_type, key):
            return True
        removed = await DISK.run(self.public.delete, entry_type, key)
        self.has_written |= removed
        return removed

    async def set_scope(self, entry_type: EntryType, key: str, scope: Scope) -> KnowledgeEntry:
        """Move an entry to where its new scope belongs. Holds the lock.

        Raises KnowledgeNotFound, or KnowledgeRefused if a public entry of this key would be lost.
        """
        return await self.write(lambda: self._set_scope(entry_type, key, scope))

    async def _set_scope(self, entry_type: EntryType, key: str, scope: Scope) -> KnowledgeEntry:
        own = await self.private.load(entry_type, key)
        shared = await DISK.run(self.public.load, entry_type, key)
        entry = own or shared
        if entry is None:
            raise KnowledgeNotFound(f"{entry_type.label} '{key}' not found")
        moved = replace(entry, scope=scope)
        if scope is Scope.PUBLIC and own is not None:
            if shared is not None:
                raise KnowledgeRefused(
                    f"A public {entry_type.value} '{key}' exists too. Remove one of them, or store "
                    "yours under another key."
                )
            await self.save(moved)
            await self.private.delete(entry_type, key)
        elif scope is Scope.PUBLIC:
            await self.save(moved)
        else:
            await self.save(moved)
            if own is None:  # only now: a crash in between leaves it hidden, never lost
                await DISK.run(self.public.delete, entry_type, key)
                self.has_written = True
        return moved

    async def hidden_paths(self) -> set[str]:
        """Files that no commit may take: those of entries that are not public."""
        found = await DISK.run(self.public.unshared)
        for entry_type in EntryType:
            for entry in await self.private.all(entry_type):
                path = entry_path(entry_type, entry.key)
                is_skill = entry_type is EntryType.SKILL
                found.add(path.rpartition("/")[0] + "/" if is_skill else path)
        return found


def refuse_secret(text: str, where: str = "") -> None:
    """Raise KnowledgeRefused if a text that becomes public seems to hold a secret."""
    if found := find_secrets(text):
        line = text.count("\n", 0, found[0].start) + 1
        place = f"{where}:{line}" if where else f"line {line}"
        raise KnowledgeRefused(
            f"Refused: {place} looks like a secret ({found[0].kind}), and public text is shared by "
            "git. Take it out, or use scope 'private'."
        )
