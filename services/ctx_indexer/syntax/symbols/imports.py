"""Reads what import statements import, from their text."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctx_indexer.syntax.symbols.table import EVERY_NAME, WHOLE_MODULE

_PYTHON_COMMENT = re.compile(r"#[^\n]*")
_QUOTED = re.compile(r"""["'`]([^"'`]+)["'`]""")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HEADERS = (".h", ".hpp", ".hh", ".hxx")
_CALLED = re.compile(r"\b(?:require|import)\s*\(")  # a module that an expression gives
_MEMBER = re.compile(r"\)\.([\w$]+);?\Z")
_MAX_NAMES = 200  # of one statement
DEFAULT = "default"
SUBMODULE = "./"  # starts the module of a Rust `mod` item


_COMMENTS = (("/*", "*/"), ("//", "\n"))


class ImportedName(NamedTuple):
    """A name bound by an import: `name` of `module`, or the module itself."""

    alias: str
    module: str
    name: str


def last_part(module: str) -> str:
    """Return the last part of a module's name: of a path or a header, its file."""
    is_path = "/" in module or module.endswith(_HEADERS)
    return module.rpartition("/" if is_path else ".")[2]


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


def _without_comments(text: str) -> str:
    """Leave comments out, up to the end of the text where one is not closed."""
    for opening, closing in _COMMENTS:
        kept, _, rest = text.partition(opening)
        parts = [kept]
        while rest:
            rest = rest.partition(closing)[2]
            kept, _, rest = rest.partition(opening)
            parts.append(kept)
        text = " ".join(parts)
    return text


def javascript_imports(text: str) -> Sequence[ImportedName]:
    """Read `import a, { b as c } from "x"`, `export … from "x"`, `a = require("x").b`."""
    text = _without_comments(text)
    quoted = _QUOTED.search(text)
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
        for each in braces.group(1).split(",")[:_MAX_NAMES]:
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


def go_imports(text: str) -> Sequence[ImportedName]:
    """Read one import: `alias "path/name"`."""
    quoted = _QUOTED.search(text)
    if quoted is None:
        return []
    path = quoted.group(1)
    alias = text[: quoted.start()].strip()
    if alias == ".":
        return [ImportedName(EVERY_NAME, path, EVERY_NAME)]
    last = [each for each in path.split("/") if not re.fullmatch(r"v\d+", each)] or [path]
    return [ImportedName(alias or last[-1], path, WHOLE_MODULE)]


def dotted_imports(text: str) -> Sequence[ImportedName]:
    """Read `import static a.b.C`, `import a.b.*`, `import a.b.c as d` of Java and Kotlin."""
    words = _without_comments(text).replace(";", " ").split()
    words = [word for word in words if word not in ("import", "static")]
    if not words:
        return []
    return [_dotted_name(words[0], words[2] if len(words) == 3 else "")]


def _dotted_name(path: str, alias: str) -> ImportedName:
    module, _, name = path.strip(".").rpartition(".")
    return ImportedName(alias or name, module, name)


def csharp_imports(text: str) -> Sequence[ImportedName]:
    """Read `using A.B;`, `using static A.B.C;` and `using X = A.B.C;`."""
    words = _without_comments(text).replace(";", " ").replace("=", " = ").split()
    words = [word for word in words if word not in ("using", "global", "static")]
    if len(words) >= 3 and words[1] == "=":
        return [_dotted_name(words[2].replace("::", "."), words[0])]
    return [ImportedName(EVERY_NAME, words[0], EVERY_NAME)] if words else []


def php_imports(text: str) -> Sequence[ImportedName]:
    r"""Read `use A\B as C, D;` and `use function A\{b, c as d};`."""
    words = _without_comments(text).replace(";", " ").replace("\\", ".")
    words = words.strip().removeprefix("use").strip()
    for kind in ("function ", "const "):
        words = words.removeprefix(kind)
    prefix, _, group = words.partition("{")
    each_name = group.rstrip("} \n").split(",") if group else words.split(",")
    found = []
    for each in each_name[:_MAX_NAMES]:
        parts = [part for part in each.split() if part not in ("function", "const")]
        if parts:
            path = (prefix.strip() if group else "") + parts[0]
            found.append(_dotted_name(path, parts[2] if len(parts) == 3 else ""))
    return found


def rust_imports(text: str) -> Sequence[ImportedName]:
    """Read `use a::{b, c as d, e::*};` and `mod a;`."""
    words = " ".join(_without_comments(text).replace(";", " ").split())
    words = re.sub(r"^pub(?:\([^)]*\))? ", "", words)
    if words.startswith("mod "):
        name = words.removeprefix("mod ").strip()
        return [ImportedName(name, SUBMODULE + name, WHOLE_MODULE)]
    tree = words.removeprefix("use ").replace("::", ".").replace(" ", "").strip(".")
    spaced = words.removeprefix("use ").replace("::", ".")
    return list(_rust_tree("", spaced if " as " in spaced else tree))[:_MAX_NAMES]


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


def c_imports(text: str) -> Sequence[ImportedName]:
    """Read `#include "a/b.h"`, `using namespace a;` and `using a::b;`."""
    if "include" in text and (quoted := _QUOTED.search(text)):
        return [ImportedName("", quoted.group(1), WHOLE_MODULE)]
    words = text.replace(";", " ").replace("::", ".").split()
    if words[:1] != ["using"]:
        return []
    if words[1:2] == ["namespace"]:
        return [ImportedName(EVERY_NAME, words[-1], EVERY_NAME)]
    return [_dotted_name(words[-1], "")] if len(words) == 2 else []


def ruby_imports(text: str) -> Sequence[ImportedName]:
    """Read `require "a/b"` and `require_relative "b"`."""
    quoted = _QUOTED.search(text)
    return [ImportedName("", quoted.group(1), WHOLE_MODULE)] if quoted else []
