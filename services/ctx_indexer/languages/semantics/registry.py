"""The semantics of all languages, found by the folders of their families."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from ctx_indexer import languages
from ctx_indexer.languages.semantics.definitions import Definitions
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.syntax.symbols.table import SymbolTable

_FAMILIES = Path(__file__).parents[1]
_DEFAULT = Semantics()


@cache
def _all() -> Mapping[str, Semantics]:
    """Load the families at the first question: most processes never ask one."""
    return {name: each for family in _families() for name, each in family.items()}


def _families() -> Iterator[Mapping[str, Semantics]]:
    """Yield the semantics of each family that has any: SEMANTICS of `go/semantics.py`."""
    for path in sorted(_FAMILIES.glob("*/semantics.py")):
        module = import_module(f"{languages.__name__}.{path.parent.name}.semantics")
        yield module.SEMANTICS


def semantics_of(file: Definitions | None) -> Semantics:
    """Return the semantics of a file's language; the default for one without rules."""
    return _DEFAULT if file is None else _of_language(file.table.language)


def _of_language(language: str) -> Semantics:
    return _all().get(language, _DEFAULT)


def file_symbols(path: str, table: SymbolTable) -> FileSymbols:
    """Return a symbol table that is indexed by the rules of its language."""
    return FileSymbols(path, table, _of_language(table.language))
