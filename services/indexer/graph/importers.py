"""Imports of a definition: in which file, on which line, under which name."""

from collections.abc import Iterator
from typing import NamedTuple

from services.indexer.graph.resolver import Resolver, Tables
from services.indexer.graph.values import Value
from services.indexer.syntax.symbols.table import EVERY_NAME


class ImportSite(NamedTuple):
    """An import statement that brings a definition, or the module that holds it."""

    path: str
    line: int
    alias: str


def import_sites(tables: Tables, target: Value) -> Iterator[ImportSite]:
    """Yield the imports that bring a definition into a file, among the loaded tables."""
    home = tables.file(target.path)
    if home is None:
        return
    name = home.scope(target.scope).name
    for file in sorted(tables.callers(name), key=lambda each: each.path):
        resolver = Resolver(tables)
        for each in file.table.imports:
            if each.name == name and target in resolver.imported(file.path, each):
                yield ImportSite(file.path, each.line, each.alias)
            elif each.name == EVERY_NAME and target in resolver.exported(file.path, each, name):
                yield ImportSite(file.path, each.line, name)
