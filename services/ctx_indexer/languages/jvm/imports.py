"""Reads the imports of Java and Kotlin from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import dotted_name, without_comments
from ctx_indexer.syntax.symbols.spec import ImportedName


def dotted_imports(text: str) -> Sequence[ImportedName]:
    """Read `import static a.b.C`, `import a.b.*`, `import a.b.c as d` of Java and Kotlin."""
    words = without_comments(text).replace(";", " ").split()
    words = [word for word in words if word not in ("import", "static")]
    if not words:
        return []
    return [dotted_name(words[0], words[2] if len(words) == 3 else "")]
