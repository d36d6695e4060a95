"""Loads symbol tables from a collection: by the path of a file, or by a name that it mentions."""

from collections.abc import Sequence

from ctx_core.batches import batches
from ctx_core.blocking import COMPUTE
from ctx_core.bounded_cache import BoundedCache
from ctx_core.vectors.points import Record
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Filter, Match, MatchAny
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import file_symbols
from ctx_indexer.schema import fields
from ctx_indexer.syntax.symbols.table import decode_table, definition_mention, file_mention
from ctx_indexer.view.view import View

MAX_FILES = 600  # files that are loaded for one graph
PAGE = 200
MAX_KEYS = 500  # mentions in one request
MAX_HINTED_FILES = 150  # of MAX_FILES, the most that only help to resolve
HINTS_AT_ONCE = 20  # names in one request
MAX_CACHED_ROWS = 2_000_000  # rows of all cached tables: about 200 MB; Django's have 600,000
# The symbols of files by point id, for all questions of the process.
TABLES = BoundedCache[FileSymbols](MAX_CACHED_ROWS, lambda file: file.table.size)


class LoadedTables:
    """The tables of one repo that a graph has loaded so far.

    A table that is asked for and not loaded is noted, and `load` brings it. `truncated` says that
    more than MAX_FILES files were asked for.
    """

    def __init__(self, store: VectorStore, view: View, repo: str) -> None:
        self._store = store
        self._view = view
        self._repo = repo
        self._files: dict[str, FileSymbols] = {}
        self._asked: set[str] = set()
        self._missing: set[str] = set()
        self._hints: set[str] = set()
        self._hinted = 0  # files that were loaded for hints
        self._mentioning: dict[str, Sequence[FileSymbols]] = {}
        self.misses = 0  # the number of questions for tables that were not loaded
        self.truncated = False

    def file(self, path: str) -> FileSymbols | None:
        """Return the symbols of a file; None where it has none, or they are not loaded yet."""
        found = self._files.get(path)
        if found is None:
            self._note(file_mention(path))
        return found

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name, and note the others to be loaded."""
        self._note(name)
        return self._mentioned(name)

    def _mentioned(self, name: str) -> Sequence[FileSymbols]:
        found = self._mentioning.get(name)
        if found is None:
            found = [file for file in self._files.values() if name in file.mentions]
            self._mentioning[name] = found
        return found

    def few_callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name, and note the others while they are few.

        Such files show the arguments of a parameter, or the subclasses of a class: without them a
        call is a possible one.
        """
        if name not in self._asked and self._hinted < MAX_HINTED_FILES:
            self._hints.add(name)
            self.misses += 1
        return self._mentioned(name)

    def definers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that define a name for others, or extend a class of it."""
        return self.callers(definition_mention(name))

    def _note(self, key: str) -> None:
        if key not in self._asked:
            self._missing.add(key)
            self.misses += 1

    @property
    def is_complete(self) -> bool:
        """Whether everything that was asked for is loaded."""
        return not self._missing and not self._hints

    async def load(self) -> None:
        """Load the tables that were asked for since the last time, up to MAX_FILES in all."""
        wanted, hinted = sorted(self._missing), sorted(self._hints - self._missing)
        self._asked |= self._missing | self._hints
        self._missing, self._hints = set(), set()
        for keys in batches(wanted, MAX_KEYS):
            self.truncated |= not await self._load(keys, MAX_FILES)
        before = len(self._files)
        for keys in batches(hinted, HINTS_AT_ONCE):
            room = MAX_HINTED_FILES - self._hinted
            await self._load(keys, min(before + room, MAX_FILES))
            self._hinted += len(self._files) - before
            before = len(self._files)

    async def _load(self, keys: Sequence[str], most: int) -> bool:
        """Load the files with these mentions; return whether there are no more than `most` files.

        Ids are read first, then the tables of unknown ids: an id comes from a file's path and
        content, so that a table cached under it is current.
        """
        mentions = Filter(must=[Match(fields.REPO, self._repo), MatchAny(fields.MENTIONS, keys)])
        where = self._view.narrowed(mentions)
        offset: str | None = None
        while len(self._files) < most:
            page, offset = await self._store.scroll(
                self._view.collection, where=where, limit=PAGE, offset=offset, fields=()
            )
            await self._add([record.id for record in page])
            if offset is None:
                return True
        return False

    async def _add(self, ids: Sequence[str]) -> None:
        known = {each: file for each in ids if (file := TABLES.get(each)) is not None}
        unknown = [each for each in ids if each not in known]
        if unknown:
            records = await self._store.retrieve(
                self._view.collection, unknown, fields=(fields.PATH, fields.SYMBOL_TABLE)
            )
            known |= await COMPUTE.run(_decode, records)
        for each in ids:
            if each in known:  # else it was deleted meanwhile
                self._files.setdefault(known[each].path, known[each])
        self._mentioning = {}


def _decode(records: Sequence[Record]) -> dict[str, FileSymbols]:
    """Decode tables, each with its indexes, once for all questions."""
    found = {}
    for record in records:
        table = decode_table(record.payload[fields.SYMBOL_TABLE])
        found[record.id] = file_symbols(record.payload[fields.PATH], table)
        TABLES.put(record.id, found[record.id])
    return found
