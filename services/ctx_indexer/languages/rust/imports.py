"""Reads the imports of Rust from their text."""

import re
from collections.abc import Iterator, Sequence

from ctx_indexer.languages.imports import MAX_NAMES, without_comments
from ctx_indexer.syntax.symbols.spec import SUBMODULE, ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE


def rust_imports(text: str) -> Sequence[ImportedName]:
    """Read `use a::{b, c as d, e::*};` and `mod a;`."""
    words = " ".join(without_comments(text).replace(";", " ").split())
    words = re.sub(r"^pub(?:\([^)]*\))? ", "", words)
    if words.startswith("mod "):
        name = words.removeprefix("mod ").strip()
        return [ImportedName(name, SUBMODULE + name, WHOLE_MODULE)]
    tree = words.removeprefix("use ").replace("::", ".").replace(" ", "").strip(".")
    spaced = words.removeprefix("use ").replace("::", ".")
    return list(_rust_tree("", spaced if " as " in spaced else tree))[:MAX_NAMES]


def _rust_tree(prefix: str, tree: str) -> Iterator[ImportedName]:
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if brace:
        for each in _split(rest.rpartition("}")[0]):
            yield from _rust_tree(prefix + head.strip(), each)
        return
    path, _, alias = tree.partition(" as ")
    module, _, name = (prefix + path.strip()).rpartition(".")
    if name == EVERY_NAME:
        yield ImportedName(EVERY_NAME, module, EVERY_NAME)
    elif name == "self":
        outer, _, name = module.rpartition(".")
        yield ImportedName(alias.strip() or name, outer, name)
    elif name:
        yield ImportedName(alias.strip() or name, module, name)


def _split(text: str) -> Iterator[str]:
    """Split at commas that are in no braces."""
    depth = start = 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]
