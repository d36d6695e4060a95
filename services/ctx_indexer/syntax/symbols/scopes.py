"""Reads the scopes of a file: functions, classes and namespaces, with their heads."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from tree_sitter import Node

from ctx_indexer.syntax.symbols.expressions import Expressions
from ctx_indexer.syntax.symbols.heads import TYPE_ARGUMENTS, Heads
from ctx_indexer.syntax.symbols.nodes import Captures, part
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import (
    ARROW,
    ASSIGNED,
    BLOCK,
    CLASS,
    DECLARATION,
    DECLARED,
    EXTENSION,
    FILE_SCOPE,
    FIXED,
    FUNCTION,
    GETTER,
    IN_TYPE,
    LAMBDA,
    LOCAL,
    MEMBER,
    MODULE,
    NAMESPACE,
    OF_CLASS,
    TYPED,
    UNKNOWN,
    Binding,
    Expression,
    Scope,
    plain,
    scope_path,
)

KINDS = {
    "function": FUNCTION,
    "class": CLASS,
    "lambda": FUNCTION,
    "namespace": NAMESPACE,
    "module": MODULE,
    "extension": EXTENSION,
    "block": BLOCK,
}
PARTS = frozenset(["head", "mark"])  # events that open no scope and say more of one: its type
_UNNAMED = PARTS | {"lambda"}
LAMBDA_NAME = "<lambda{}>"
CLASS_NAME = "<class{}>"
_QUALIFIER = "::"
_QUALIFIED = frozenset(["function", "class"])  # may have the name of their owner before theirs
DELETED = "deleted"  # captured of a function that nobody may call: `Cart(Cart&) = delete`
_MARKS = {
    "local": LOCAL,
    "declaration": DECLARATION,
    "fixed": FIXED,
    "member": MEMBER,
    "static": OF_CLASS,
    "getter": GETTER,
    "arrow": ARROW,
}


class Scopes:
    """Collects the scopes of one file."""

    def __init__(self, source: bytes, spec: SymbolSpec, line_starts: Sequence[int]) -> None:
        self._spec = spec
        self._starts = line_starts
        self.all = [Scope("", "", MODULE, 1, max(len(line_starts) - 1, 1), -1)]
        self._ranges: list[tuple[int, int, int]] = []  # start, end, number
        self._by_node: dict[tuple[int, int], int] = {}
        self.expressions = Expressions(source, spec.shapes, self._lambda)
        self._text = self.expressions.text
        self.heads = Heads(self.expressions, spec)
        self._unnamed: Counter[tuple[int, str]] = Counter()  # by the scope around them
        self.fields: list[Binding] = []  # of parameters that are members of a class, too
        self.unpacked: list[Binding] = []  # of patterns that take parameters apart

    def open(self, events: Sequence[tuple[str, Node, Captures]]) -> None:
        """Open the scopes of events, outer ones first; one that has a name wins over one without.

        A head is read when all are open, so that lambdas in it have their numbers.
        """
        found: dict[tuple[int, int], tuple[str, Node, Captures]] = {}
        for kind, node, captures in events:
            key = (node.start_byte, node.end_byte)
            known = found.get(key)
            if known is None:
                found[key] = (kind, node, captures)
            else:
                named = known if known[0] not in _UNNAMED or kind in _UNNAMED else (kind, node)
                found[key] = (*named[:2], _merged(known[2], captures))
        ordered = sorted(
            (e for e in found.values() if e[0] in KINDS and DELETED not in e[2]),
            key=lambda event: (self._start(*event), -event[1].end_byte),
        )
        for kind, node, captures in ordered:
            self._open(kind, node, captures)
        for kind, node, captures in ordered:
            self._complete(kind, node, captures)

    def _start(self, kind: str, node: Node, captures: Captures) -> int:
        """Return the byte where a scope begins: `g()` of `def f(x=g())` runs outside of it."""
        if self._spec.heads_outside and kind == "function" and "parameters" in captures:
            return captures["parameters"][0].end_byte
        return node.start_byte

    def _open(self, kind: str, node: Node, captures: Captures) -> None:
        parent = self.at(node.start_byte)
        name, owner = self._name(kind, parent, captures)
        number = len(self.all)
        start, end = self.line(node.start_byte), self.line(max(node.end_byte - 1, 0))
        scope = Scope(name, "", KINDS[kind], start, end, parent, owner=owner)
        if "extends" in captures:
            owner = plain(self.expressions.read(captures["extends"][0]))
            scope = scope._replace(owner=owner, receiver=IN_TYPE)
        if "self" in captures:
            scope = scope._replace(receiver=self._text(captures["self"][0]))
        marks = [mark for each, mark in _MARKS.items() if each in captures]
        path = scope_path(self.all[parent].path, scope)
        self.all.append(scope._replace(path=path, marks=marks))
        self._ranges.append((self._start(kind, node, captures), node.end_byte, number))
        self._by_node[node.start_byte, node.end_byte] = number

    def _name(self, kind: str, parent: int, captures: Captures) -> tuple[str, Expression]:
        """Return the name of a scope and its owner, which may be written before it."""
        owner: Expression = UNKNOWN
        if "owner" in captures:
            owner = plain(self.expressions.read(captures["owner"][0]))
        if "name" in captures:
            name = self._text(captures["name"][0])
            if _QUALIFIER in name and kind in _QUALIFIED:
                outer, _, inner = _without_arguments(name).rpartition(_QUALIFIER)
                name = inner if outer else name
                owner = outer.replace(_QUALIFIER, ".")
            if kind == "namespace":
                name = name.replace(_QUALIFIER, ".").replace("\\", ".")
            if self.all[parent].kind != CLASS or not self._spec.sigil:
                name = name.lstrip(self._spec.sigil) if self._spec.sigil else name
            return name.strip("\"'"), owner
        if kind in ("extension", "block"):
            return "", owner
        if kind == "class" and self._spec.unnamed_class and "base" not in captures:
            return self._spec.unnamed_class, owner
        self._unnamed[parent, kind] += 1
        pattern = CLASS_NAME if kind == "class" else LAMBDA_NAME
        return pattern.format(self._unnamed[parent, kind]), owner

    def _complete(self, kind: str, node: Node, captures: Captures) -> None:
        number = self._by_node[node.start_byte, node.end_byte]
        read = self.expressions.read
        written = [*captures.get("base", ())]
        for each in captures.get("bases", ()):
            written += each.named_children
        parameters = [
            p for each in captures.get("parameters", ()) for p in self.heads.parameters(each)
        ]
        self.all[number] = self.all[number]._replace(
            bases=[
                plain(read(each))
                for each in written
                if each.type not in self._spec.keyword_arguments
            ],
            parameters=parameters,
            returns=self.heads.type(captures),
        )
        if kind == "class":
            self.fields += [Binding(number, p.name, TYPED, p.type) for p in parameters]
        for each in captures.get("own", ()):  # a name that it binds inside: `(function f() {})`
            own = Binding(number, self._text(each), ASSIGNED, [LAMBDA, number])
            self.fields.append(own)
        for each in captures.get("parameters", ()):
            self._promote(number, each)
            self._unpack(number, each)

    def _promote(self, number: int, node: Node) -> None:
        """Note the parameters that are members of the class: `constructor(private cart: Cart)`."""
        parent = self.all[number].parent
        for each in node.named_children:
            types = {child.type for child in each.children}
            if each.type in self._spec.promoted or types & self._spec.promoted:
                self.fields += [
                    Binding(parent, p.name.lstrip("$"), TYPED, p.type)
                    for p in self.heads.parameter(each)
                ]

    def _unpack(self, number: int, node: Node) -> None:
        """Note the parameters of a function that are patterns of names: `({ cart }) => …`."""
        patterns = self._spec.shapes.mappings | self._spec.shapes.sequences
        for each in node.named_children:
            fields = self._spec.parameters.get(each.type)
            written = part(each, fields[0]) if fields else each
            if written is not None and written.type in patterns:
                kind = self.heads.annotation(part(each, fields[1])) if fields else UNKNOWN
                value: Expression = [DECLARED, kind, UNKNOWN] if kind else UNKNOWN
                target = self.expressions.read(written)
                self.unpacked.append(Binding(number, target, ASSIGNED, value))

    def add_base(self, number: int, base: Expression) -> None:
        """Add a base that a statement in the body of a class names: `include Priced` of Ruby."""
        scope = self.all[number]
        self.all[number] = scope._replace(bases=[*scope.bases, base])

    def function_at(self, byte: int) -> int:
        """Return the innermost scope that encloses a byte, leaving blocks out."""
        number = self.at(byte)
        while self.all[number].kind == BLOCK:
            number = self.all[number].parent
        return number

    def at(self, byte: int) -> int:
        """Return the innermost scope that encloses a byte; a scope does not enclose its first."""
        found = bisect_right(self._ranges, (byte, -1, -1)) - 1
        while found >= 0:
            start, end, number = self._ranges[found]
            if start < byte < end:
                return number
            parent = self.all[number].parent
            found = parent - 1 if parent > FILE_SCOPE else -1
        return FILE_SCOPE

    def of(self, node: Node) -> int | None:
        """Return the number of the scope that a node opens; None where it opens none."""
        return self._by_node.get((node.start_byte, node.end_byte))

    def line(self, byte: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self._starts, byte)

    def _lambda(self, node: Node) -> Expression:
        number = self.of(node)
        return [LAMBDA, number] if number is not None else UNKNOWN


def _without_arguments(name: str) -> str:
    """Return a name without the arguments of its types: `Box<List<T>>::add` → `Box::add`."""
    while (shorter := TYPE_ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def _merged(first: Captures, second: Captures) -> Captures:
    """Return the captures of two matches of one node; a part that both have stands once."""
    merged = dict(first)
    for name, nodes in second.items():
        earlier = first.get(name, [])
        merged[name] = [*earlier, *(each for each in nodes if each not in earlier)]
    return merged
