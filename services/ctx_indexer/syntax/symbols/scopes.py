"""Reads the scopes of a file: what its functions, classes and namespaces say in their heads."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from ctx_indexer.syntax.symbols.expressions import ARRAY, Expressions, part, plain
from ctx_indexer.syntax.symbols.spec import MAX_ANNOTATION, SymbolSpec
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
    GENERIC,
    GETTER,
    IN_TYPE,
    LAMBDA,
    LITERAL,
    LOCAL,
    MEMBER,
    MODULE,
    NAMESPACE,
    OF_CLASS,
    TUPLE,
    TYPED,
    UNKNOWN,
    Binding,
    Expression,
    Parameter,
    Scope,
    scope_path,
)

Captures = dict[str, list[Node]]
KINDS = {
    "function": FUNCTION,
    "class": CLASS,
    "lambda": FUNCTION,
    "namespace": NAMESPACE,
    "module": MODULE,
    "extension": EXTENSION,
    "block": BLOCK,
}
PARTS = frozenset(["head", "mark"])  # events that tell more of a scope that another one opens
_UNNAMED = PARTS | {"lambda"}
LAMBDA_NAME = "<lambda{}>"
CLASS_NAME = "<class{}>"
_QUALIFIER = "::"
_QUALIFIED = frozenset(["function", "class"])  # may have the name of their owner before theirs
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
DELETED = "deleted"  # captured of a function that is declared for nobody to call
_REST = "..."  # a parameter that takes any others
_VARIABLES = ("identifier", "field_identifier")
# Overloads tell these from pointers to them; a pointer to a class is called as the class is.
_POINTED_TYPES = ("char", "void", "wchar_t")
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
        self._unnamed: Counter[tuple[int, str]] = Counter()  # by the scope around them
        self.fields: list[Binding] = []  # parameters that are members of a class, too
        self.unpacked: list[Binding] = []  # patterns that take parameters apart

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
        """Return the byte where a scope begins: what stands in a head may belong outside of it."""
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
        parameters = [p for each in captures.get("parameters", ()) for p in self._parameters(each)]
        self.all[number] = self.all[number]._replace(
            bases=[
                plain(read(each))
                for each in written
                if each.type not in self._spec.keyword_arguments
            ],
            parameters=parameters,
            returns=self.type(captures),
        )
        if kind == "class":
            self.fields += [Binding(number, p.name, TYPED, p.type) for p in parameters]
        for each in captures.get("own", ()):  # the name by which it knows itself
            own = Binding(number, self._text(each), ASSIGNED, [LAMBDA, number])
            self.fields.append(own)
        for each in captures.get("parameters", ()):
            self._promote(number, each)
            self._unpack(number, each)

    def _promote(self, number: int, node: Node) -> None:
        """Note the parameters of a constructor that are members of its class."""
        parent = self.all[number].parent
        for each in node.named_children:
            types = {child.type for child in each.children}
            if each.type in self._spec.promoted or types & self._spec.promoted:
                self.fields += [
                    Binding(parent, p.name.lstrip("$"), TYPED, p.type)
                    for p in self._parameter(each)
                ]

    def _unpack(self, number: int, node: Node) -> None:
        """Note the parameters of a function that are patterns of names."""
        patterns = self._spec.shapes.mappings | self._spec.shapes.sequences
        for each in node.named_children:
            fields = self._spec.parameters.get(each.type)
            written = part(each, fields[0]) if fields else each
            if written is not None and written.type in patterns:
                kind = self.annotation(part(each, fields[1])) if fields else UNKNOWN
                value: Expression = [DECLARED, kind, UNKNOWN] if kind else UNKNOWN
                target = self.expressions.read(written)
                self.unpacked.append(Binding(number, target, ASSIGNED, value))

    def add_base(self, number: int, base: Expression) -> None:
        """Add a class that another inherits from, by a statement in its body."""
        scope = self.all[number]
        self.all[number] = scope._replace(bases=[*scope.bases, base])

    def _parameters(self, node: Node) -> Iterator[Parameter]:
        if not node.named_children and node.type in self._spec.shapes.names:
            yield Parameter(self._text(node))
        if self._spec.rest_modifier:
            yield from self._listed(node)
            return
        for each in node.named_children:
            if each.type not in self._spec.no_parameters and "comment" not in each.type:
                yield from self._parameter(each)
        if self._spec.holds and any(each.type == _REST for each in node.children):
            yield Parameter(f"*{_REST}")

    def _listed(self, node: Node) -> Iterator[Parameter]:
        """Read parameters whose modifiers and defaults stand beside them in the list."""
        found: list[Parameter] = []
        star = ""
        for each in node.named_children:
            if each.type in self._spec.no_parameters or "comment" in each.type:
                star = "*" if self._spec.rest_modifier in self._text(each) else star
            elif each.type in self._spec.parameters or not found:
                found += [p._replace(name=star + p.name) for p in self._parameter(each)]
                star = ""
            else:
                found[-1] = found[-1]._replace(default=[LITERAL, ""])
        yield from found

    def _parameter(self, node: Node) -> Iterator[Parameter]:
        spec = self._spec
        fields = spec.parameters.get(node.type)
        if node.type in spec.splats:
            text = self._text(node if not fields else part(node, fields[0]) or node)
            element = self.annotation(part(node, fields[1])) if fields else UNKNOWN
            rest: Expression = [GENERIC, ARRAY, element] if element else UNKNOWN
            yield Parameter(text if text.startswith("*") else f"*{text}", rest)
        elif fields is not None:
            kind = part(node, fields[1])
            default = part(node, fields[2])
            value = [LITERAL, ""] if spec.overloads else self.expressions.read(default)
            names: list[Node | None] = [part(node, fields[0])]
            if fields[0].isalpha():
                names = [*node.children_by_field_name(fields[0])] or names
            for each in names:
                name, is_function = declared_name(each) if each is not None else (None, False)
                annotation = UNKNOWN if is_function else self.pointed(self.annotation(kind), each)
                if annotation and node.type in spec.variadic:
                    annotation = [GENERIC, ARRAY, annotation]
                is_named = name is not None and not name.type.startswith("abstract_")
                written = self._text(name) if is_named and name is not None else ""
                yield Parameter(written, annotation, value if default else UNKNOWN)
        else:
            yield Parameter(self._text(node))

    def type(self, captures: Captures) -> Expression:
        """Return the type that a head or declaration names."""
        return self.annotation(captures["type"][0]) if "type" in captures else UNKNOWN

    def holds(self, captures: Captures, written: Node | None) -> bool:
        """Whether a declared name is the value itself, and no pointer to it."""
        if not self._spec.holds or written is None or written.type not in _VARIABLES:
            return False
        return _TYPE_ARGUMENTS.search(self._text(captures["type"][0])) is None

    def pointed(self, type_: Expression, declarator: Node | None) -> Expression:
        """Return a type of the language as a pointer where its declarator makes it one."""
        if not self._spec.holds or declarator is None or type_ not in _POINTED_TYPES:
            return type_
        is_pointer = any(each in declarator.type for each in ("pointer", "array"))
        return f"{type_}*" if is_pointer else type_

    def annotation(self, node: Node | None) -> Expression:
        """Read a type."""
        if node is not None and node.type in self._spec.tuples:
            return self._several(node)
        if node is not None and self._spec.annotations is not None:
            return self._spec.annotations(self._text(node, MAX_ANNOTATION + 1))
        value = self.expressions.read(node)
        return UNKNOWN if isinstance(value, str) and value in self._spec.untyped else value

    def _several(self, node: Node) -> Expression:
        """Read the types of several results; a result that has a name may be the only one."""
        parts: list[Expression] = []
        is_single = False
        for each in node.named_children:
            if each.type in self._spec.parameters:
                names = each.children_by_field_name("name")
                parts += [self.expressions.read(part(each, "type"))] * max(len(names), 1)
                is_single = len(parts) == 1
            elif "comment" not in each.type:
                parts.append(self.expressions.read(each))
        return parts[0] if is_single else [GENERIC, TUPLE, *parts]

    def function_at(self, byte: int) -> int:
        """Return the innermost scope that encloses a byte and is no block."""
        number = self.at(byte)
        while self.all[number].kind == BLOCK:
            number = self.all[number].parent
        return number

    def at(self, byte: int) -> int:
        """Return the innermost scope that encloses a byte; its own head's start is outside."""
        found = bisect_right(self._ranges, (byte, -1, -1)) - 1
        while found >= 0:
            start, end, number = self._ranges[found]
            if start < byte < end:
                return number
            parent = self.all[number].parent
            found = parent - 1 if parent > FILE_SCOPE else -1
        return FILE_SCOPE

    def of(self, node: Node) -> int | None:
        """Return the scope that a node is."""
        return self._by_node.get((node.start_byte, node.end_byte))

    def line(self, byte: int) -> int:
        """Return the line of a byte."""
        return bisect_right(self._starts, byte)

    def _lambda(self, node: Node) -> Expression:
        number = self.of(node)
        return [LAMBDA, number] if number is not None else UNKNOWN


def _without_arguments(name: str) -> str:
    """Return a name without the arguments of its types, nested ones too."""
    while (shorter := _TYPE_ARGUMENTS.sub("", name)) != name:
        name = shorter
    return name


def _merged(first: Captures, second: Captures) -> Captures:
    """Return the captures of two matches of one node; a part that both have stands once."""
    merged = dict(first)
    for name, nodes in second.items():
        earlier = first.get(name, [])
        merged[name] = [*earlier, *(each for each in nodes if each not in earlier)]
    return merged


def declared_name(node: Node) -> tuple[Node, bool]:
    """Return the name inside a declarator, and whether it is that of a function."""
    is_function = False
    while True:
        is_function = is_function or node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type.endswith("_declarator") and node.named_children:
            inner = node.named_children[0]
        if inner is None:
            return node, is_function
        node = inner
