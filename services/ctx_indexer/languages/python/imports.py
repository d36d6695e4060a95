"""Reads the imports of Python from their text."""

import re
from collections.abc import Sequence

from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE

_PYTHON_COMMENT = re.compile(r"#[^\n]*")


def python_imports(text: str) -> Sequence[ImportedName]:
    """Read `import a.b as c, d` and `from a import (b as c, d)`."""
    words = _PYTHON_COMMENT.sub("", text).replace("(", " ").replace(")", " ").replace("\\\n", " ")
    if words.startswith("from"):
        module, _, names = words.removeprefix("from").partition(" import ")
        module = "".join(module.split())
        return [_python_name(module, each.split()) for each in names.split(",") if each.strip()]
    imported = []
    for each in words.removeprefix("import").split(","):
        parts = each.split()
        if not parts:
            continue
        if len(parts) == 3:
            imported.append(ImportedName(parts[2], parts[0], WHOLE_MODULE))
        else:
            top = parts[0].partition(".")[0]
            imported.append(ImportedName(top, top, WHOLE_MODULE))
            if top != parts[0]:
                imported.append(ImportedName(parts[0], parts[0], WHOLE_MODULE))
    return imported


def _python_name(module: str, parts: Sequence[str]) -> ImportedName:
    if parts[0] == EVERY_NAME:
        return ImportedName(EVERY_NAME, module, EVERY_NAME)
    return ImportedName(parts[-1], module, parts[0])
