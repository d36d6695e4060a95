"""Documented Python functions: what they are said to do, and their code without that text."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MIN_SUMMARY_WORDS = 4  # "Return self." describes hundreds of functions
# Tests repeat what they test; the rest of the list is vendored or demonstration code.
SKIPPED_FOLDERS = frozenset(
    "test tests testing idlelib lib2to3 ensurepip turtledemo site-packages __pycache__".split(" ")
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function and the first line of its documentation."""

    summary: str
    code: str  # without the documentation
    anonymous: str  # the code with the function's own name hidden


def documented_functions(root: Path) -> Iterator[Function]:
    """Every documented function below the folder, in a fixed order; one for each summary."""
    seen: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        if SKIPPED_FOLDERS.isdisjoint(path.relative_to(root).parts):
            for function in _in_file(path):
                if function.summary not in seen:
                    seen.add(function.summary)
                    yield function


def _in_file(path: Path) -> Iterator[Function]:
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # ValueError: not UTF-8, or null bytes
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = _function(node, lines)
            if function is not None:
                yield function


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Function | None:
    documentation = (ast.get_docstring(node) or "").strip()
    summary = documentation.split("\n")[0].strip()
    # A body of documentation only has nothing to find.
    if len(summary.split()) < MIN_SUMMARY_WORDS or len(node.body) == 1:
        return None
    first = node.body[0]
    head = lines[node.lineno - 1 : first.lineno - 1]
    body = lines[first.end_lineno : node.end_lineno]
    code = "\n".join(head + body)
    return Function(summary, code, re.sub(rf"\b{re.escape(node.name)}\b", "f", code))
