"""The semantics of all languages, found by the folders of their families."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from ctx_indexer import languages
from ctx_indexer.languages.semantics.definitions import Definitions
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.semantics import Semantics
from ctx_indexer.syntax.symbols.table import SymbolTable

_DEFAULT = Semantics()


@cache
def _all() -> Mapping[str, Semantics]:
    """Load the families at the first question: most processes never ask one."""
    return {name: each for family in _families() for name, each in family.items()}


def _families() -> Iterator[Mapping[str, Semantics]]:
    """Yield the semantics of each folder that has any: `go/semantics.py` has SEMANTICS."""
    for found in iter_modules(languages.__path__, f"{languages.__name__}."):
        if found.ispkg and find_spec(f"{found.name}.semantics") is not None:
            module = import_module(f"{found.name}.semantics")
            yield getattr(module, "SEMANTICS", {})


def semantics_of(file: Definitions | None) -> Semantics:
    """Return the semantics of a file's language; the default for one without rules."""
    return _DEFAULT if file is None else _of_language(file.table.language)


def _of_language(language: str) -> Semantics:
    return _all().get(language, _DEFAULT)


def file_symbols(path: str, table: SymbolTable) -> FileSymbols:
    """Return a symbol table that is indexed by the rules of its language."""
    return FileSymbols(path, table, _of_language(table.language))
