"""Private and ephemeral entries of one project, kept in SQL."""

from collections.abc import Callable

from ctx_core.blocking import GIT
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope
from ctx_memory.records.private import LASTING, PrivateEntry, PrivateRecords


class PrivateEntries:
    """Reads and writes the entries that this run of the server may see.

    `project` returns the project's name in SQL, or None if it has none yet and is not to be given
    one; it blocks.
    """

    def __init__(
        self, records: PrivateRecords, run: str, project: Callable[[bool], str | None]
    ) -> None:
        self._records = records
        self._runs = (LASTING, run)
        self._run = run
        self._project = project

    async def all(self, entry_type: EntryType, key: str | None = None) -> list[KnowledgeEntry]:
        """Every entry of a type, or those of one key; of one key the ephemeral one stands."""
        project = await GIT.run(self._project, False)
        if project is None:
            return []
        rows = await self._records.load(project, entry_type.value, self._runs, key)
        return list({row.key: _entry(entry_type, row) for row in rows}.values())

    async def load(self, entry_type: EntryType, key: str) -> KnowledgeEntry | None:
        found = await self.all(entry_type, key)
        return found[0] if found else None

    async def save(self, entry: KnowledgeEntry) -> None:
        """Write an entry that is private or ephemeral from now on."""
        project = await GIT.run(self._project, True)
        run = self._run if entry.scope is Scope.EPHEMERAL else LASTING
        row = PrivateEntry(
            str(project),
            entry.type.value,
            entry.key,
            entry.content,
            run,
            entry.author,
            entry.events,
        )
        await self._records.save(row, self._runs)

    async def delete(self, entry_type: EntryType, key: str) -> bool:
        project = await GIT.run(self._project, False)
        if project is None:
            return False
        return await self._records.remove(project, entry_type.value, key, self._runs)


def _entry(entry_type: EntryType, row: PrivateEntry) -> KnowledgeEntry:
    scope = Scope.EPHEMERAL if row.run != LASTING else Scope.PRIVATE
    return KnowledgeEntry(entry_type, row.key, row.content, scope, row.author, row.events)
