"""Imports of a definition, each with its file, its line and the name that it gives it."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from ctx_indexer.graph.edges import outside_reason
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import Value
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE, Import


class ImportSite(NamedTuple):
    """An import statement that brings a definition, or the module that holds it."""

    path: str
    line: int
    alias: str
    of: Value
    unsure: str = ""  # says why the import may bring something else


def import_sites(resolver: Resolver, target: Value) -> Iterator[ImportSite]:
    """Yield the imports that bring a definition into a file, among the loaded tables."""
    tables = resolver.tables
    home = tables.file(target.path)
    if home is None:
        return
    name = home.scope(target.scope).name
    if not semantics_of(home).visible.is_imported(home, target.scope):
        return
    for file in sorted(tables.callers(name), key=lambda each: each.path):
        visible = semantics_of(file).visible
        for each in file.table.imports:
            resolver.start()
            resolver.undecorated.start()
            if _brings_file(file, each, target):
                yield ImportSite(file.path, each.line, name, target)
            elif visible.carries(resolver, file, each, target, name):
                yield ImportSite(file.path, each.line, each.alias, target)
            elif each.name == name:
                yield from _named(resolver, file, each, target)
            elif each.name == EVERY_NAME and target in (
                visible.starred(resolver, file, each, name) or ()
            ):
                yield ImportSite(file.path, each.line, name, target)


def _named(
    resolver: Resolver, file: FileSymbols, each: Import, target: Value
) -> Iterator[ImportSite]:
    """Yield an import of a definition's name where it brings the definition, or may bring it."""
    values = resolver.undecorated.imported(file.path, each)
    if target in values:
        yield ImportSite(file.path, each.line, each.alias, target)
        return
    reasons = (outside_reason(file, value, target) for value in values)
    if unsure := next(filter(None, reasons), ""):
        yield ImportSite(file.path, each.line, each.alias, target, unsure)


def _brings_file(file: FileSymbols, each: Import, target: Value) -> bool:
    """Whether an include or require names the file of a definition, or its header."""
    if each.alias or each.name != WHOLE_MODULE:
        return False
    return PurePosixPath(each.module).stem == PurePosixPath(target.path).stem
