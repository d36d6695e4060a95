"""Reads the imports of Swift from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import without_comments
from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME

_KINDS = frozenset("typealias struct class enum protocol let var func".split())


def swift_imports(text: str) -> Sequence[ImportedName]:
    """Read `import Shop`, `@testable import Shop` and `import struct Shop.Cart`."""
    words = without_comments(text).replace(";", " ").split()
    named = words[words.index("import") + 1 :] if "import" in words else []
    if not named:
        return []
    if named[0] not in _KINDS:
        return [ImportedName(EVERY_NAME, named[0], EVERY_NAME)]
    module, _, name = named[-1].rpartition(".")
    return [ImportedName(name, module, name)] if module else []
