"""Reads the imports of Go from their text."""

import re
from collections.abc import Sequence

from ctx_indexer.languages.imports import QUOTED
from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE


def go_imports(text: str) -> Sequence[ImportedName]:
    """Read one import: `"path/name"` binds `name`, `alias "path/name"` binds `alias`."""
    quoted = QUOTED.search(text)
    if quoted is None:
        return []
    path = quoted.group(1)
    alias = text[: quoted.start()].strip()
    if alias == ".":
        return [ImportedName(EVERY_NAME, path, EVERY_NAME)]
    last = [each for each in path.split("/") if not re.fullmatch(r"v\d+", each)] or [path]
    return [ImportedName(alias or last[-1], path, WHOLE_MODULE)]
