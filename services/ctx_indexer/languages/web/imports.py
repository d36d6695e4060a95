"""Reads the imports of JavaScript and TypeScript from their text."""

import re
from collections.abc import Sequence

from ctx_indexer.languages.imports import MAX_NAMES, QUOTED, without_comments
from ctx_indexer.syntax.symbols.spec import DEFAULT, ImportedName
from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE

_BRACES = re.compile(r"\{([^{}]*)\}")
_CALLED = re.compile(r"\b(?:require|import)\s*\(")  # a call that gives a module
_MEMBER = re.compile(r"\)\.([\w$]+);?\Z")


def javascript_imports(text: str) -> Sequence[ImportedName]:
    """Read `import a, { b as c } from "x"`, `export … from "x"`, `a = require("x").b`."""
    text = without_comments(text)
    quoted = QUOTED.search(text)
    if quoted is None:
        return []
    module = quoted.group(1)
    is_called = _CALLED.search(text[: quoted.start()]) is not None
    if is_called:
        head = text.partition("=")[0]
    else:
        head = re.split(r"\bfrom\b", text)[0].removeprefix("import").removeprefix("export")
    found = []
    if braces := _BRACES.search(head):
        for each in braces.group(1).split(",")[:MAX_NAMES]:
            words = each.replace(":", " as ").partition("=")[0].split()
            words = words[1:] if len(words) in (2, 4) and words[0] == "type" else words
            if words:
                found.append(ImportedName(words[-1], module, words[0]))
    rest = _BRACES.sub("", head).replace(",", " ").split()
    if EVERY_NAME in rest:
        alias = rest[-1] if "as" in rest else EVERY_NAME
        name = WHOLE_MODULE if "as" in rest else EVERY_NAME
        found.append(ImportedName(alias, module, name))
    elif rest := [word for word in rest if word not in ("type", "typeof")]:
        member = _MEMBER.match("".join(text[quoted.end() :].split()))
        whole = member.group(1) if member else WHOLE_MODULE
        found.append(ImportedName(rest[-1], module, whole if is_called else DEFAULT))
    return found or [ImportedName("", module, WHOLE_MODULE)]
