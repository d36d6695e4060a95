"""Reads the imports of C# from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import dotted_name, without_comments
from ctx_indexer.syntax.symbols.spec import ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME


def csharp_imports(text: str) -> Sequence[ImportedName]:
    """Read `using A.B;`, `using static A.B.C;` and `using X = A.B.C;`."""
    words = without_comments(text).replace(";", " ").replace("=", " = ").split()
    words = [word for word in words if word not in ("using", "global", "static")]
    if len(words) >= 3 and words[1] == "=":
        return [dotted_name(words[2].replace("::", "."), words[0])]
    return [ImportedName(EVERY_NAME, words[0], EVERY_NAME)] if words else []
