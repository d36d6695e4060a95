"""Reads the annotations of Python: also those in strings, unions, and types with arguments."""

import ast
from collections.abc import Sequence
from functools import lru_cache

from ctx_indexer.syntax.symbols.spec import MAX_ANNOTATION
from ctx_indexer.syntax.symbols.table import (
    EITHER,
    GENERIC,
    TUPLE,
    UNKNOWN,
    Expression,
)

CACHED = 4_000
# Types that stand for their first argument: `Optional[Cart]` → `Cart`.
_TRANSPARENT = frozenset(
    "Optional Annotated Final ClassVar InitVar Required NotRequired ReadOnly Awaitable".split()
)
_UNKNOWN_TYPES = frozenset("Callable Literal Any TypeGuard TypeIs Concatenate".split())
_FIRST = frozenset("Generator AsyncGenerator".split())  # only their first argument is kept
_LAST = frozenset(["Coroutine"])  # stands for its last argument
_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


@lru_cache(maxsize=CACHED)
def python_type(text: str) -> Expression:
    """Return the type that an annotation names: `"Cart | None"` → `Cart`; else unknown."""
    if len(text) > MAX_ANNOTATION:
        return UNKNOWN
    try:
        return _read(ast.parse(text.strip(), mode="eval").body)
    except _ERRORS:
        return UNKNOWN


def _read(node: ast.expr) -> Expression:
    if isinstance(node, ast.Name):
        return UNKNOWN if node.id in _UNKNOWN_TYPES else node.id
    if isinstance(node, ast.Attribute):
        owner = _read(node.value)
        is_known = isinstance(owner, str) and owner and node.attr not in _UNKNOWN_TYPES
        return f"{owner}.{node.attr}" if is_known else UNKNOWN
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return python_type(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _one_of([node.left, node.right])
    return _with_arguments(node) if isinstance(node, ast.Subscript) else UNKNOWN


def _with_arguments(node: ast.Subscript) -> Expression:
    base = _read(node.value)
    if not isinstance(base, str) or not base:
        return UNKNOWN
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    last = base.rpartition(".")[2]
    if last == "Union":
        return _one_of(arguments)
    if last in _TRANSPARENT and arguments:
        return _read(arguments[0])
    if last in _LAST and arguments:
        return _read(arguments[-1])
    if last in _FIRST:
        arguments = arguments[:1]
    if last in ("tuple", "Tuple"):
        if any(_is_rest(each) for each in arguments):
            arguments = arguments[:1]
        else:
            base = TUPLE
    if last in ("type", "Type"):
        base = "type"
    return [GENERIC, base, *map(_read, arguments)]


def _one_of(nodes: Sequence[ast.expr]) -> Expression:
    read = [_read(node) for node in nodes if not _is_none(node)]
    parts: list[Expression] = []
    for each in read:
        parts += each[1:] if isinstance(each, list) and each[0] == EITHER else [each]
    return parts[0] if len(parts) == 1 else [EITHER, *parts]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_rest(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
