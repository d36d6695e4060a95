"""The definitions of a source text: found by the grammar's query, then nested."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Tree

from ctx_indexer.syntax.grammar import Grammar
from ctx_indexer.syntax.lines import Lines

# All kinds of chunks.
KINDS = frozenset(
    (
        "function method class interface enum struct trait impl type module variable constant "
        "import comment macro table heading key rule element block code text"
    ).split()
)
FUNCTIONS = frozenset(["function", "method", "macro"])
TYPES = frozenset(["class", "interface", "enum", "struct", "trait", "impl"])
VALUES = frozenset(["variable", "constant"])
IMPLEMENTATION, MODULE = "impl", "module"
NAMESPACE = "namespace"  # in queries only: a module that adds nothing to symbol paths
SECTION = "section"  # in queries only: a header, with its section below it
MAX_NAME = 200  # characters; longer names are misparsed or generated
MAX_WRITTEN_NAME = 1_000  # characters, with the arguments of a template
MAX_NESTED_ARGUMENTS = 8  # of templates inside templates
_ARGUMENTS = re.compile(r"<[^<>]*>|\([^()]*\)")
# `operator ()`, `operator->`; not `operator bool`, which is split as other names are.
_OPERATOR = re.compile(r"\boperator ?[^\w\s].*+$")
_SEPARATORS = re.compile(r"::|[.:#\\]|->")
_METHOD_NAME = re.compile(r"::|\.prototype\.|^\w+:\w+$")
# Kinds whose names may hold punctuation.
WHOLE_NAMES = frozenset(["key", "heading", "rule", "element", "block", "module", NAMESPACE])
# Objects that are no part of a symbol path: `module.exports.f = …` defines f.
NO_SCOPE = frozenset(["prototype", "this", "self", "exports", "module", "window"])
_QUOTES = "\"'`"


@dataclass(slots=True)
class Definition:
    """A named part of a text, its lines counted from 0, and the definitions inside it."""

    name: str
    path: str
    kind: str
    start: int
    end: int
    head: int = 0  # the first line after leading comments and decorators
    children: list["Definition"] = field(default_factory=list)


class Capture(NamedTuple):
    """A definition as the query found it, not yet nested."""

    start_byte: int
    end_byte: int
    start: int
    end: int
    kind: str
    name: str
    order: int = 0  # the number of its pattern in the query: of two that match, the first wins
    name_byte: int = -1


def find_definitions(
    tree: Tree, source: bytes, grammar: Grammar, line_starts: list[int]
) -> list[Capture]:
    """Find definitions with the grammar's query, outer ones first."""
    by_name_byte: dict[int, Capture] = {}
    sections: list[int] = []
    for order, captures in grammar.definition_matches(tree):
        name_node = captures["name"][0]
        at = name_node.start_byte
        capture, nodes = next(item for item in captures.items() if "." in item[0])
        start = nodes[0].start_byte
        end = (captures.get("end") or nodes)[0].end_byte
        other = by_name_byte.get(at)
        if other is not None and (other.order, -other.end_byte) <= (order, -end):
            continue
        name = source[at : name_node.end_byte].decode("utf-8", "replace")
        if scope := captures.get("scope"):
            outer = source[scope[0].start_byte : scope[0].end_byte].decode("utf-8", "replace")
            name = f"{outer}.{name}"
        first = bisect_right(line_starts, start) - 1
        last = bisect_right(line_starts, max(end - 1, start)) - 1
        role, _, kind = capture.partition(".")
        by_name_byte[at] = Capture(start, end, first, last, kind, name, order, at)
        if role == SECTION:
            sections.append(at)
    if sections:
        _extend_sections(by_name_byte, sections, len(source), len(line_starts) - 2)
    return sorted(by_name_byte.values(), key=lambda c: (c.start_byte, -c.end_byte, c.order))


def _extend_sections(
    captures: dict[int, Capture], sections: list[int], size: int, last: int
) -> None:
    """Extend each section to the next one, or to the end of the text."""
    headers = sorted({captures[at].start_byte: captures[at].start for at in sections}.items())
    headers.append((size, last + 1))
    for at in sections:
        section = captures[at]
        following = headers[bisect_right(headers, (section.start_byte, last)) :]
        until, row = following[0] if following else (size, last + 1)
        captures[at] = section._replace(end_byte=until, end=max(row - 1, section.start))


def segments(name: str, kind: str) -> list[str]:
    """Split a name into its path: `Foo<T>::bar` → Foo, bar. A key or heading stays whole."""
    name = _unquoted(" ".join(name[:MAX_WRITTEN_NAME].split()), kind)
    if name.isidentifier() or kind in WHOLE_NAMES:
        return [name[:MAX_NAME]] if name else []
    name, operator = _without_operator(name)
    plain = _without_arguments(name)[:MAX_NAME]
    parts = [part.strip() for part in _SEPARATORS.split(plain) if part.strip()]
    parts += [operator] if operator else []
    return [part for part in parts if part not in NO_SCOPE] or parts


def _unquoted(name: str, kind: str) -> str:
    """Return a name without quotes around it; a heading with quoted words keeps them."""
    inner = name.strip(_QUOTES)
    return name if kind == "heading" and any(quote in inner for quote in _QUOTES) else inner


def kind_weight(kind: str) -> int:
    """Rate a kind, 0 the heaviest: a name stands for a function or type before other things."""
    if kind in FUNCTIONS or (kind in TYPES and kind != IMPLEMENTATION):
        return 0
    return {MODULE: 2, IMPLEMENTATION: 3}.get(kind, 1)


def _without_operator(name: str) -> tuple[str, str]:
    """Split an operator of C++ off a name: `Cart::operator->` → `Cart::`, `operator->`."""
    match = _OPERATOR.search(name)
    if match is None:
        return name, ""
    return name[: match.start()], match.group().replace(" ", "")[:MAX_NAME]


def _without_arguments(name: str) -> str:
    """Take the arguments out of a name, the innermost first: `Box<List<T>>::f(int)` → `Box::f`."""
    for _ in range(MAX_NESTED_ARGUMENTS):
        shorter = _ARGUMENTS.sub("", name) if "<" in name or "(" in name else name
        if shorter == name:
            break
        name = shorter
    return name


def nest(captures: Iterable[Capture], separator: str = ".") -> list[Definition]:
    """Nest definitions and return the outermost; variables of functions are dropped."""
    roots: list[Definition] = []
    enclosing: list[_Scope] = []
    before: Capture | None = None
    for capture in captures:
        if before and capture[:2] == before[:2] and capture.order != before.order:
            continue  # the same definition, captured by a later pattern
        before = capture
        while enclosing and not enclosing[-1].holds(capture):
            enclosing.pop()
        if capture.kind in VALUES and any(s.definition.kind in FUNCTIONS for s in enclosing[-2:]):
            continue
        parts = segments(capture.name, capture.kind)
        if not parts:
            continue
        parent = enclosing[-1] if enclosing else None
        definition, path = _definition(capture, parts, parent, separator)
        siblings = parent.definition.children if parent else roots
        if siblings and _continues(siblings[-1], definition):
            definition, siblings[-1].end = siblings[-1], definition.end
        else:
            siblings.append(definition)
        enclosing.append(_Scope(capture.start_byte, capture.end_byte, definition, path))
    return roots


class _Scope(NamedTuple):
    """A definition that may enclose the next one."""

    start_byte: int
    end_byte: int
    definition: Definition
    path: str  # prefix of the symbol paths inside it

    def holds(self, capture: Capture) -> bool:
        same = (self.start_byte, self.end_byte) == (capture.start_byte, capture.end_byte)
        return capture.start_byte < self.end_byte and not same


def _definition(
    capture: Capture, parts: list[str], parent: _Scope | None, separator: str
) -> tuple[Definition, str]:
    """Build a definition, and the prefix of the symbol paths inside it."""
    outer = parent.path if parent else ""
    path = separator.join([outer, *parts] if outer else parts)[-MAX_NAME:]
    start, end, name, kind = capture.start, capture.end, parts[-1], capture.kind
    if kind == NAMESPACE:
        return Definition(name, name, "module", start, end, start), outer
    in_type = parent is not None and parent.definition.kind in TYPES
    if kind == "function" and (in_type or _METHOD_NAME.search(capture.name)):
        kind = "method"
    return Definition(name, path, kind, start, end, start), path


def _continues(before: Definition, after: Definition) -> bool:
    """Whether two neighbours are one function: its signature and body, or two of its clauses."""
    return (
        before.path == after.path
        and before.kind == after.kind
        and after.kind in FUNCTIONS
        and before.end <= after.start <= before.end + 1
    )


def trim_definitions(
    definitions: Iterable[Definition],
    lines: Lines,
    attached_rows: frozenset[int],
    comment_rows: frozenset[int],
) -> None:
    """Begin each definition at its decorators, set `head` below them, cut trailing comments off."""
    for definition in definitions:
        start, end = definition.start, min(definition.end, len(lines.rows) - 1)
        while end > start and (end in attached_rows or not lines.rows[end].strip()):
            end -= 1
        while start < end and (start in attached_rows or not lines.rows[start].strip()):
            start += 1
        definition.end, definition.head = end, start
        above = definition.start - 1
        while above in attached_rows:
            if above not in comment_rows:
                definition.start = above
            above -= 1


def flatten(definitions: Sequence[Definition]) -> list[Definition]:
    """Return all definitions, also nested ones, in the order of the text."""
    result: list[Definition] = []
    pending = list(reversed(definitions))
    while pending:
        definition = pending.pop()
        result.append(definition)
        pending.extend(reversed(definition.children))
    return result
