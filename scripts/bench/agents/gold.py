"""Definitions, calls and subclasses of a repository, by parsers that are not ours.

Python is read by its own `ast`, every other language by Universal Ctags, which knows definitions
and base classes but no calls.
"""

import ast
import json
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CTAGS_LANGUAGES = {
    "java": "Java",
    "typescript": "TypeScript",
    "go": "Go",
    "rust": "Rust",
    "cpp": "C++",
}
# Kinds of Universal Ctags that people look up by name.
CTAGS_KINDS = frozenset(
    "class interface enum method function func struct trait typedef type union".split()
)
ENDINGS = {
    "python": "py",
    "java": "java",
    "typescript": "ts",
    "go": "go",
    "rust": "rs",
    "cpp": "h",
}


@dataclass(frozen=True)
class Definition:
    """A definition: its first line (with decorators), the line of its name, its last line.

    `end` is None where the parser does not know it.
    """

    path: str
    name: str
    scope: str
    kind: str
    start: int
    line: int
    end: int | None
    bases: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(frozen=True)
class Call:
    """A call by name, and the definition around it: its name and line, None at the top level."""

    path: str
    name: str
    line: int
    around: str | None
    around_line: int | None


@dataclass(frozen=True)
class Sources:
    """What a repository defines and calls."""

    definitions: Sequence[Definition]
    calls: Sequence[Call] = ()


def read_sources(root: Path, paths: Sequence[str], language: str) -> Sources:
    """Parse the files of one language. Raises FileNotFoundError where ctags is not installed."""
    if language == "python":
        return _python_sources(root, paths)
    return Sources(list(_ctags_definitions(root, paths, language)))


# --- Python --------------------------------------------------------------------------------


def _python_sources(root: Path, paths: Sequence[str]) -> Sources:
    definitions: list[Definition] = []
    calls: list[Call] = []
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse((root / path).read_bytes())
        except (SyntaxError, ValueError):
            continue
        visitor = _PythonVisitor(path)
        visitor.visit(tree)
        definitions += visitor.definitions
        calls += visitor.calls
    return Sources(definitions, calls)


class _PythonVisitor(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self.definitions: list[Definition] = []
        self.calls: list[Call] = []
        self._path = path
        self._around: list[Definition] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._define(node, "class", tuple(filter(None, map(_last_name, node.bases))))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._define(node, "function")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._define(node, "function")

    def visit_Call(self, node: ast.Call) -> None:
        if name := _last_name(node.func):
            inner = self._around[-1] if self._around else None
            line = node.func.end_lineno or node.func.lineno
            place = (inner.qualified, inner.line) if inner else (None, None)
            self.calls.append(Call(self._path, name, line, *place))
        self.generic_visit(node)

    def _define(
        self,
        node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
        kind: str,
        bases: tuple[str, ...] = (),
    ) -> None:
        for outside in (*node.decorator_list, *getattr(node, "bases", ())):
            self.visit(outside)  # decorators and bases are evaluated outside of the definition
        start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        scope = self._around[-1].qualified if self._around else ""
        made = Definition(
            self._path, node.name, scope, kind, start, node.lineno, node.end_lineno, bases
        )
        self.definitions.append(made)
        self._around.append(made)
        for inside in node.body:
            self.visit(inside)
        self._around.pop()


def _last_name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


# --- other languages -----------------------------------------------------------------------


def _ctags_definitions(root: Path, paths: Sequence[str], language: str) -> Iterator[Definition]:
    name = CTAGS_LANGUAGES[language]
    command = ["ctags", "-f", "-", "--sort=no", "--output-format=json", "--fields=+neKis"]
    command += [f"--language-force={name}", "-L", "-"]
    answer = subprocess.run(
        command, cwd=root, input="\n".join(paths), capture_output=True, text=True, check=True
    )
    for row in map(json.loads, answer.stdout.splitlines()):
        if row["kind"] in CTAGS_KINDS and not row["name"].startswith("__anon"):
            bases = tuple(_base_name(each) for each in row.get("inherits", "").split(","))
            yield Definition(
                row["path"],
                row["name"],
                row.get("scope", "").replace("::", "."),
                row["kind"],
                row["line"],
                row["line"],
                row.get("end"),
                tuple(filter(None, bases)),
            )


def _base_name(written: str) -> str:
    return written.split("<", maxsplit=1)[0].replace("::", ".").split(".")[-1].strip()
