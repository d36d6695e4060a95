"""Reads the imports of Ruby from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import QUOTED
from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import WHOLE_MODULE


def ruby_imports(text: str) -> Sequence[ImportedName]:
    """Read `require "a/b"` and `require_relative "b"`."""
    quoted = QUOTED.search(text)
    return [ImportedName("", quoted.group(1), WHOLE_MODULE)] if quoted else []
