"""The definitions of a file, and which lies inside which."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Tree

from services.indexer.syntax.grammar import Grammar
from services.indexer.syntax.lines import Lines

# Every kind of chunk there is.
KINDS = frozenset(
    (
        "function method class interface enum struct trait impl type module variable constant "
        "import comment macro table heading key rule element block code text"
    ).split()
)
FUNCTIONS = frozenset(["function", "method", "macro"])
TYPES = frozenset(["class", "interface", "enum", "struct", "trait", "impl"])
VALUES = frozenset(["variable", "constant"])
NAMESPACE = "namespace"  # in queries only: a module whose name is no part of a symbol path
SECTION = "section"  # in queries: a header; what it heads follows it
MAX_NAME = 200  # longer ones are misparsed or generated
_ARGUMENTS = re.compile(r"<[^<>]*>|\([^()]*\)")
_SEPARATORS = re.compile(r"::|[.:#\\]|->")
_OF_A_TYPE = re.compile(r"::|\.prototype\.|^\w+:\w+$")
# One name, whatever punctuation is in it.
WHOLE_NAMES = frozenset(["key", "heading", "rule", "element", "block", "module", NAMESPACE])
# `module.exports.f = …` defines f.
NO_SCOPE = frozenset(["prototype", "this", "self", "exports", "module", "window"])
_QUOTES = "\"'`"


@dataclass(slots=True)
class Definition:
    """Something with a name: its lines from 0, and what is defined inside it."""

    name: str
    path: str
    kind: str
    start: int
    end: int
    head: int = 0  # the line its name stands on, or its header begins
    children: list["Definition"] = field(default_factory=list)


class Capture(NamedTuple):
    """A definition as it was found, before it is known what it lies in."""

    start_byte: int
    end_byte: int
    start: int
    end: int
    kind: str
    name: str
    order: int = 0  # of its pattern in the query: where two match, the first one counts
    name_byte: int = -1


def found_in(tree: Tree, source: bytes, grammar: Grammar, starts: list[int]) -> list[Capture]:
    """Every definition that the grammar's query finds, outer ones first."""
    found: dict[int, Capture] = {}
    sections: list[int] = []
    for order, captures in grammar.find_definitions(tree):
        name_node = captures["name"][0]
        at = name_node.start_byte
        capture, nodes = next(item for item in captures.items() if "." in item[0])
        start = nodes[0].start_byte
        end = (captures.get("end") or nodes)[0].end_byte
        known = found.get(at)
        if known is not None and (known.order, -known.end_byte) <= (order, -end):
            continue
        name = source[at : name_node.end_byte].decode("utf-8", "replace")
        if scope := captures.get("scope"):
            outer = source[scope[0].start_byte : scope[0].end_byte].decode("utf-8", "replace")
            name = f"{outer}.{name}"
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, max(end - 1, start)) - 1
        role, _, kind = capture.partition(".")
        found[at] = Capture(start, end, first, last, kind, name, order, at)
        if role == SECTION:
            sections.append(at)
    if sections:
        _extend(found, sections, len(source), len(starts) - 2)
    return sorted(found.values(), key=lambda f: (f.start_byte, -f.end_byte, f.order))


def _extend(found: dict[int, Capture], sections: list[int], size: int, last: int) -> None:
    """A section reaches to the next one, or to the end of the file."""
    headers = sorted({found[at].start_byte: found[at].start for at in sections}.items())
    headers.append((size, last + 1))
    for at in sections:
        following = headers[bisect_right(headers, (found[at].start_byte, last)) :]
        until, row = following[0] if following else (size, last + 1)
        found[at] = found[at]._replace(end_byte=until, end=max(row - 1, found[at].start))


def segments(name: str, kind: str) -> list[str]:
    """`Foo<T>::bar` → Foo, bar. A key or heading is one name, whatever is in it."""
    name = " ".join(name.split())[:MAX_NAME].strip(_QUOTES)
    if name.isidentifier() or kind in WHOLE_NAMES:
        return [name] if name else []
    plain = _ARGUMENTS.sub("", name) if "<" in name or "(" in name else name
    parts = [part.strip() for part in _SEPARATORS.split(plain) if part.strip()]
    return [part for part in parts if part not in NO_SCOPE] or parts


def nest(found: Iterable[Capture], separator: str = ".") -> list[Definition]:
    """The outermost definitions, each with those inside it; a variable of a function is none."""
    roots: list[Definition] = []
    open_ones: list[_Open] = []
    before: Capture | None = None
    for item in found:
        if before and item[:2] == before[:2] and item.order != before.order:
            continue  # the same thing, named by a later pattern
        before = item
        while open_ones and not open_ones[-1].holds(item):
            open_ones.pop()
        if item.kind in VALUES and any(o.definition.kind in FUNCTIONS for o in open_ones[-2:]):
            continue
        parts = segments(item.name, item.kind)
        if not parts:
            continue
        parent = open_ones[-1] if open_ones else None
        definition, inside = _defined(item, parts, parent, separator)
        siblings = parent.definition.children if parent else roots
        if siblings and _continues(siblings[-1], definition):
            definition, siblings[-1].end = siblings[-1], definition.end
        else:
            siblings.append(definition)
        open_ones.append(_Open(item.start_byte, item.end_byte, definition, inside))
    return roots


class _Open(NamedTuple):
    """A definition that may hold the next one."""

    start_byte: int
    end_byte: int
    definition: Definition
    path: str  # what the paths of those inside begin with

    def holds(self, item: Capture) -> bool:
        same = (self.start_byte, self.end_byte) == (item.start_byte, item.end_byte)
        return item.start_byte < self.end_byte and not same


def _defined(
    item: Capture, parts: list[str], parent: _Open | None, separator: str
) -> tuple[Definition, str]:
    """The definition, and what the paths of those inside it begin with."""
    outer = parent.path if parent else ""
    path = separator.join([outer, *parts] if outer else parts)[-MAX_NAME:]
    kind = item.kind
    if kind == NAMESPACE:
        return Definition(parts[-1], parts[-1], "module", item.start, item.end, item.start), outer
    in_type = parent is not None and parent.definition.kind in TYPES
    if kind == "function" and (in_type or _OF_A_TYPE.search(item.name)):
        kind = "method"
    return Definition(parts[-1], path, kind, item.start, item.end, item.start), path


def _continues(before: Definition, after: Definition) -> bool:
    """A signature and its function, or two clauses of one, without a line between."""
    return (
        before.path == after.path
        and before.kind == after.kind
        and after.kind in FUNCTIONS
        and before.end <= after.start <= before.end + 1
    )


def tidy(definitions: Iterable[Definition], lines: Lines, attached: frozenset[int]) -> None:
    """Ends each definition before trailing comments, and finds its header after leading ones."""
    for definition in definitions:
        start, end = definition.start, min(definition.end, len(lines.rows) - 1)
        while end > start and (end in attached or not lines.rows[end].strip()):
            end -= 1
        while start < end and (start in attached or not lines.rows[start].strip()):
            start += 1
        definition.end, definition.head = end, start


def flatten(definitions: Sequence[Definition]) -> list[Definition]:
    """All of them, in the order of the file."""
    result: list[Definition] = []
    waiting = list(reversed(definitions))
    while waiting:
        definition = waiting.pop()
        result.append(definition)
        waiting.extend(reversed(definition.children))
    return result
