"""Symbol tables of texts, for a resolver."""

from collections.abc import Mapping, Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import file_symbols
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax.outline import outline
from ctx_indexer.syntax.symbols.table import decode_table, definition_mention


class SymbolTables:
    """The tables of texts by their paths, as they are after they were stored and read again."""

    misses = 0  # everything is loaded

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.files = {path: _symbols(path, text) for path, text in texts.items()}

    def file(self, path: str) -> FileSymbols | None:
        return self.files.get(path)

    def callers(self, name: str) -> Sequence[FileSymbols]:
        return [file for file in self.files.values() if name in file.mentions]

    few_callers = callers

    def definers(self, name: str) -> Sequence[FileSymbols]:
        return self.callers(definition_mention(name))


def _symbols(path: str, text: str) -> FileSymbols:
    table = outline(text, language_of(path), with_symbols=True).symbols
    assert table is not None, f"{path} has no symbols"
    return file_symbols(path, decode_table(table.encode()))
