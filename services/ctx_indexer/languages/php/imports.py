"""Reads the imports of PHP from their text."""

from collections.abc import Sequence

from ctx_indexer.languages.imports import MAX_NAMES, dotted_name, without_comments
from ctx_indexer.syntax.symbols.spec import ImportedName


def php_imports(text: str) -> Sequence[ImportedName]:
    r"""Read `use A\B as C, D;` and `use function A\{b, c as d};`."""
    words = without_comments(text).replace(";", " ").replace("\\", ".")
    words = words.strip().removeprefix("use").strip()
    for kind in ("function ", "const "):
        words = words.removeprefix(kind)
    prefix, _, group = words.partition("{")
    each_name = group.rstrip("} \n").split(",") if group else words.split(",")
    found = []
    for each in each_name[:MAX_NAMES]:
        parts = [part for part in each.split() if part not in ("function", "const")]
        if parts:
            path = (prefix.strip() if group else "") + parts[0]
            found.append(dotted_name(path, parts[2] if len(parts) == 3 else ""))
    return found
