"""Reads the imports of C and C++ from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import QUOTED, dotted_name
from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE


def c_imports(text: str) -> Sequence[ImportedName]:
    """Read `#include "a/b.h"`, `using namespace a;` and `using a::b;`."""
    if "include" in text and (quoted := QUOTED.search(text)):
        return [ImportedName("", quoted.group(1), WHOLE_MODULE)]
    words = text.replace(";", " ").replace("::", ".").split()
    if words[:1] != ["using"]:
        return []
    if words[1:2] == ["namespace"]:
        return [ImportedName(EVERY_NAME, words[-1], EVERY_NAME)]
    return [dotted_name(words[-1], "")] if len(words) == 2 else []
