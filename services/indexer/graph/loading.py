"""Loads symbol tables from a collection: those of files, and of all that mention a name."""

from collections.abc import Sequence
from functools import lru_cache

from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, Match, MatchAny
from services.indexer.graph.files import FileSymbols
from services.indexer.schema import fields
from services.indexer.schema.versions import without_versions
from services.indexer.syntax.symbols.table import decode_table, definition_mention, file_mention

MAX_FILES = 600  # loaded for one question
PAGE = 200
MAX_KEYS = 500  # of one request
CACHED_TABLES = 2_000


class LoadedTables:
    """The tables of one repo that a question has loaded so far.

    What is asked for and not loaded is noted, and `load` brings it. `truncated` says that there was
    more than a question may load.
    """

    def __init__(
        self, store: VectorStore, collection: str, repo: str, hidden: Sequence[int] = ()
    ) -> None:
        """`hidden` are the file versions of other checkouts."""
        self._store = store
        self._collection = collection
        self._repo = repo
        self._hidden = hidden
        self._files: dict[str, FileSymbols] = {}
        self._asked: set[str] = set()
        self._missing: set[str] = set()
        self.misses = 0  # how often something was asked for that is not loaded
        self.truncated = False

    def file(self, path: str) -> FileSymbols | None:
        """Return the symbols of a file; None where it has none, or they are not loaded yet."""
        found = self._files.get(path)
        if found is None:
            self._note(file_mention(path))
        return found

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name."""
        self._note(name)
        return [file for file in self._files.values() if name in file.mentions]

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
        return not self._missing

    async def load(self) -> None:
        """Load what was asked for since the last time, up to MAX_FILES in all."""
        keys = sorted(self._missing)
        self._asked |= self._missing
        self._missing = set()
        for start in range(0, len(keys), MAX_KEYS):
            await self._load(keys[start : start + MAX_KEYS])

    async def _load(self, keys: Sequence[str]) -> None:
        mentions = Filter(must=[Match(fields.REPO, self._repo), MatchAny(fields.MENTIONS, keys)])
        where = without_versions(mentions, self._hidden)
        offset: str | None = None
        while len(self._files) < MAX_FILES:
            page, offset = await self._store.scroll(
                self._collection, where=where, limit=PAGE, offset=offset
            )
            for record in page:
                path = record.payload[fields.PATH]
                named = tuple(record.payload[fields.MENTIONS])
                file = _decode(path, record.payload[fields.SYMBOL_TABLE], named)
                self._files.setdefault(path, file)
            if offset is None:
                return
        self.truncated = True


@lru_cache(maxsize=CACHED_TABLES)
def _decode(path: str, table: str, mentions: tuple[str, ...]) -> FileSymbols:
    """Decode a table; what is looked up in it is indexed once for all questions."""
    return FileSymbols(path, decode_table(table), frozenset(mentions))
