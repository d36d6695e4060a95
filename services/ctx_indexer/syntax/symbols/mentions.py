"""The names by which the graph finds a symbol table: called, imported, inherited, defined ones."""

from collections.abc import Iterator

from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    BLOCK,
    CLASS,
    DECLARATION,
    EXTENSION,
    FUNCTION,
    SymbolTable,
    definition_mention,
    inner_names,
    last_name,
)

_HEADERS = (".h", ".hpp", ".hh", ".hxx")
_INNER = (FUNCTION, CLASS, BLOCK)  # scopes whose names other files do not know


def mentions_of(table: SymbolTable, spec: SymbolSpec) -> set[str]:
    """Return the mentions of a table: `client.get()` → get; a definition `get` → +get.

    Methods that an interface of Go declares are mentioned as definitions, too: types in other files
    have them without naming the interface.
    """
    names = {last_name(call.function) for call in table.calls}
    if spec.reads:
        for call in table.calls:
            names.update(inner_names(call.function))
    for each in table.imports:
        names.update((each.name, each.alias, last_part(each.module)))
    names.update(last_name(base) for scope in table.scopes for base in scope.bases)
    for read in table.reads:
        names.update(inner_names(read.value))
    if spec.exports:
        names.update(definition_mention(name) for name in _exported(table) if name)
    if spec.variables:
        declared = (scope.name for scope in table.scopes if DECLARATION in scope.marks)
        names.update(map(definition_mention, declared))
    names.discard("")
    return names


def _exported(table: SymbolTable) -> Iterator[str]:
    """Yield the names that other files may know without an import of this file."""
    scopes = table.scopes
    for scope in scopes[1:]:
        inner = scopes[scope.parent].kind in _INNER
        if scope.owner:
            yield last_name(scope.owner)
        elif not inner and scope.kind != EXTENSION:
            yield scope.name
    for binding in table.bindings:
        if scopes[binding.scope].kind not in (EXTENSION, *_INNER):
            yield binding.target if isinstance(binding.target, str) else ""


def last_part(module: str) -> str:
    """Return the last part of a module's name: `shop.cart` → cart, `shop/cart.h` → cart.h."""
    is_path = "/" in module or module.endswith(_HEADERS)
    return module.rpartition("/" if is_path else ".")[2]
