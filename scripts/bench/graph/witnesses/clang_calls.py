"""What the calls of a C or C++ repository run, as clang resolves them, for call_sites.py.

    python scripts/bench/graph/witnesses/clang_calls.py ROOT [--sources GLOB] [-- -I… -D…] > WITNESS

Needs the package `libclang` and nothing of this repository. Each translation unit below ROOT is
parsed with the options after `--`; a path in them that starts with `@/` is below ROOT. A unit that
includes a file which is not there is left out, and so is a call that clang does not resolve (it
depends on a template's parameter), an operator, and a constructor whose class is not written on
its line. One through a pointer to a function has no target.
"""

import argparse
import ctypes
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from clang.cindex import (  # type: ignore[import-not-found]
    Cursor,
    CursorKind,
    File,
    Index,
    SourceLocation,
    TranslationUnit,
    TypeKind,
    c_object_p,
    conf,
)

ENDINGS = (".c", ".cc", ".cpp", ".cxx")
FUNCTIONS = frozenset(
    [
        CursorKind.FUNCTION_DECL,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
        CursorKind.FUNCTION_TEMPLATE,
    ]
)
POINTERS = frozenset([CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.FIELD_DECL])
NAMES = frozenset([CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR])
MAX_DEEP = 8  # casts and parentheses around the name of what is called
Spot = tuple[str, int]


class Called(NamedTuple):
    """A call that is written at a place, with what is called."""

    place: Spot
    name: str
    usr: str  # clang's name of the function, the same in every translation unit


class Witness:
    """Collects the calls and definitions of all translation units."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._calls: set[Called] = set()
        self._declared: dict[str, set[Spot]] = defaultdict(set)
        self._defined: dict[str, set[Spot]] = defaultdict(set)
        self._members: set[str] = set()  # what a class declares is a target without a definition

    def visit(self, unit: TranslationUnit) -> None:
        """Visit what a translation unit has below the root."""
        for cursor in unit.cursor.get_children():
            if self._place(cursor.location) is not None:
                self._below(cursor)

    def _below(self, top: Cursor) -> None:
        for cursor in top.walk_preorder():
            if cursor.kind in FUNCTIONS and cursor.is_definition():
                self._note(cursor)
            elif cursor.kind == CursorKind.CALL_EXPR:
                self._call(cursor)

    def _call(self, call: Cursor) -> None:
        called = call.referenced
        if called is None or called.spelling.startswith("operator"):
            return
        is_constructor = called.kind == CursorKind.CONSTRUCTOR
        if called.kind in POINTERS and called.type.get_canonical().kind != TypeKind.POINTER:
            return  # a lambda, or what a template is given
        if called.kind not in FUNCTIONS | POINTERS:
            return
        name = _name(called)
        written = call if is_constructor else _written(call)
        place = self._place(written.location) if written is not None else None
        if place is None or not self._stands(place, name):
            return
        if is_constructor and not self._constructs(place, call, name):
            return
        if is_constructor and (called.is_copy_constructor() or called.is_move_constructor()):
            return
        usr = "" if called.kind in POINTERS else self._note(called)
        self._calls.add(Called(place, name, usr))

    def _note(self, function: Cursor) -> str:
        """Note where a function is declared and defined; return its name among all."""
        pattern = conf.lib.clang_getSpecializedCursorTemplate(function) or function
        usr = str(pattern.get_usr())
        for each in (function, pattern, function.canonical, pattern.canonical):
            if place := self._place(each.location):
                self._declared[usr].add(place)
        for each in (function, pattern):
            found = each if each.is_definition() else each.get_definition()
            if found is not None and (place := self._place(found.location)):
                self._defined[usr].add(place)
        if function.semantic_parent is not None and function.semantic_parent.kind.is_declaration():
            self._members.add(usr)
        return usr

    def _place(self, location: SourceLocation) -> Spot | None:
        """Return where something is written, below the root; in a macro's body, where that is."""
        file, line = _file_location(location)
        path = _below_root(self._root, file) if file else ""
        return (path, line) if path else None

    def _stands(self, place: Spot, name: str) -> bool:
        """Whether a name is written on a line."""
        lines = _lines(self._root / place[0])
        text = lines[place[1] - 1] if place[1] <= len(lines) else ""
        return re.search(rf"\b{re.escape(name)}\b", text) is not None

    def _constructs(self, place: Spot, call: Cursor, name: str) -> bool:
        """Whether a constructor's class is written where it runs, and not only on its line."""
        text = _lines(self._root / place[0])[place[1] - 1]
        column = max(call.location.column - 1, 0)
        is_after = re.search(rf"\b{name}\b\s*(?:<.*>)?\s*$", text[:column])
        return bool(is_after or re.match(rf"(?:\w+::)*{name}\b", text[column:]))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each place that a call may mean."""
        for call in sorted(self._calls):
            places = self._declared[call.usr] | self._defined[call.usr] if call.usr else set()
            if places and not self._defined[call.usr] and call.usr not in self._members:
                continue  # declared, and defined where clang does not look
            (path, line), name = call.place, call.name
            targets: list[Spot | None] = [*sorted(places)]
            for target in targets or [None]:
                yield {"path": path, "line": line, "name": name, "target": target}


def _name(function: Cursor) -> str:
    """Return the name of a function; of a constructor, its class's."""
    if function.kind == CursorKind.CONSTRUCTOR:
        function = function.semantic_parent
    return str(function.spelling).partition("<")[0]


def _written(call: Cursor) -> Cursor | None:
    """Return the name in what is called."""
    inner = call
    for _ in range(MAX_DEEP):
        inner = next(inner.get_children(), None)
        if inner is None or inner.kind in NAMES:
            return inner
    return None


def _file_location(location: SourceLocation) -> tuple[str, int]:
    """Return the file and line that a location is written at, also that of a macro's argument."""
    file, line = c_object_p(), ctypes.c_uint()
    conf.lib.clang_getFileLocation(location, ctypes.byref(file), ctypes.byref(line), None, None)
    return (File(file).name, line.value) if file else ("", 0)


@cache
def _below_root(root: Path, file: str) -> str:
    path = Path(file).resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else ""


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").split("\n")


def main() -> None:
    arguments, _, options = (*_split(sys.argv[1:]),)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("root", type=Path)
    parser.add_argument("--sources", default="**/*", help="which files are translation units")
    chosen = parser.parse_args(arguments)
    root = chosen.root.resolve()
    options = [each.replace("@/", f"{root}/") for each in options]
    witness = Witness(root)
    index, left_out = Index.create(), []
    for path in sorted(root.glob(chosen.sources)):
        if path.name.endswith(ENDINGS):
            unit = index.parse(str(path), args=options)
            if any(each.severity >= each.Fatal for each in unit.diagnostics):
                left_out.append(path.name)
            else:
                witness.visit(unit)
    for row in witness.rows():
        print(json.dumps(row))
    print(f"left out: {left_out}", file=sys.stderr)


def _split(words: list[str]) -> tuple[list[str], str, list[str]]:
    at = words.index("--") if "--" in words else len(words)
    return words[:at], "--", words[at + 1 :]


if __name__ == "__main__":
    main()
