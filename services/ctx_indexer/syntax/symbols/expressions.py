"""Turns nodes of a syntax tree into expressions of a symbol table."""

import re
from collections.abc import Callable

from tree_sitter import Node

from ctx_indexer.syntax.symbols.nodes import part
from ctx_indexer.syntax.symbols.spec import Shapes
from ctx_indexer.syntax.symbols.table import (
    ARRAY,
    ATTRIBUTE,
    CALL,
    DECLARED,
    EITHER,
    GENERIC,
    ITEM,
    ITERATED,
    LITERAL,
    MAPPING,
    NEW,
    OPERATION,
    SEQUENCE,
    UNKNOWN,
    Expression,
    attribute,
    last_name,
    plain,
)

MAX_DEPTH = 12  # nested expressions; a deeper one is generated, and unknown
MAX_ITEMS = 30  # elements that are kept of a literal
MAX_ARGUMENTS = 20  # arguments that are read of a call
MAX_MEMBERS = 300  # names and functions kept of an object: a module exports so many at once
MAX_PASSED = 4  # arguments that are kept of a call of a function that passes them on
MAX_TEXT = 200  # bytes of a dotted name; a longer one is unknown
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")  # most dotted names, as they are
_DOTTED = re.compile(r"[\w$]+(?:\.[\w$]+)*[?!]?\Z")
_SEPARATORS = ("?.", "!!.", "::", "->", "\\")
TEXT = [LITERAL, "string"]
_COMPARING = frozenset("== != < > <= >= && || !".split())
_TYPE = "type"  # the class whose instances are classes


class Expressions:
    """Reads expressions from the nodes of one file."""

    def __init__(
        self, source: bytes, shapes: Shapes, function: Callable[[Node], Expression]
    ) -> None:
        self._source = source
        self._shapes = shapes
        self._function = function

    def read(self, node: Node | None, depth: int = 0) -> Expression:
        """Return the expression of a node: `a.b()` → ["()", "a.b"]; UNKNOWN for other nodes."""
        if node is None or depth > MAX_DEPTH:
            return UNKNOWN
        kind, shapes = node.type, self._shapes
        if kind in shapes.names or kind in shapes.attributes:
            dotted = self.dotted(node)
            if dotted or kind in shapes.names:
                return dotted
        return self._compound(node, kind, depth + 1)

    def dotted(self, node: Node) -> str:
        """Return the text of a node where it is a dotted name, else an empty one."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_TEXT:
            return UNKNOWN
        text = self._source[start:end].decode("utf-8", "replace")
        if _PLAIN.match(text):
            return text
        if self._shapes.members and text.startswith(self._shapes.members):
            text = "self." + text.lstrip(self._shapes.members)
        if self._shapes.contextual and text.startswith(self._shapes.contextual):
            return UNKNOWN
        text = "".join(text.split())
        for separator in _SEPARATORS:
            text = text.replace(separator, ".")
        if self._shapes.sigil:
            text = text.replace(f".{self._shapes.sigil}", ".")
        text = text.lstrip(".")
        return text if _DOTTED.match(text) and not text[0].isdigit() else UNKNOWN

    def callee(self, node: Node, depth: int = 0) -> tuple[Expression, Node | None, int]:
        """Return the called expression, the node of its arguments, and the name's last byte."""
        kind, shapes = node.type, self._shapes
        if parts := shapes.calls.get(kind) or shapes.constructs.get(kind):
            called = part(node, parts[0])
            end = called.end_byte if called is not None else node.start_byte + 1
            function = plain(self.read(called, depth))
            is_array = function == ARRAY
            return UNKNOWN if is_array else function, part(node, parts[1]), end - 1
        owner, name, arguments = shapes.methods[kind]
        named = part(node, name)
        if named is None:
            return UNKNOWN, None, node.start_byte
        written = part(node, owner)
        called_name = self.dotted(named)
        if written is not None and called_name and called_name == self._shapes.creator:
            function = self.read(written, depth)
        elif written is not None and called_name:
            function = attribute(self.read(written, depth), called_name)
        else:
            function = called_name
        return function, part(node, arguments), named.end_byte - 1

    def is_cast(self, node: Node) -> bool:
        """Whether a call only changes the type of a value: `static_cast<Shape*>(p)`."""
        called = node.named_children[0] if self._shapes.cast_words and node.named_children else None
        if called is None or called.type not in self._shapes.generics:
            return False
        return self.text(called).partition("<")[0].strip() in self._shapes.cast_words

    def _compound(self, node: Node, kind: str, depth: int) -> Expression:
        shapes = self._shapes
        if fields := shapes.attributes.get(kind):
            return self._attribute(node, fields, depth)
        if kind in shapes.calls or kind in shapes.methods or kind in shapes.constructs:
            return self._call(node, kind, depth)
        if fields := shapes.subscripts.get(kind):
            return self._item(node, fields, depth)
        if (inner := shapes.wrappers.get(kind)) is not None:
            return self._wrapped(node, self.read(part(node, inner), depth))
        if kind in shapes.generics:
            return self._generic(node, shapes.generics[kind], depth)
        if kind in shapes.lookups:
            return self._looked_up(node, depth)
        if kind in shapes.arrays:
            return self._array(node, self.read(part(node, shapes.arrays[kind]), depth))
        if kind in shapes.casts:
            type_ = self.read(part(node, shapes.casts[kind]), depth)
            return [DECLARED, type_, UNKNOWN] if type_ else UNKNOWN
        if parts := shapes.operations.get(kind):
            return self._operation(node, parts, depth)
        return self._literal(node, kind, depth)

    def _wrapped(self, node: Node, value: Expression) -> Expression:
        """Return a value as the operator before it changes it: `<-orders` → an order."""
        operator = node.children[0].type
        if value and operator == self._shapes.receiving:
            return [ITERATED, value]
        if isinstance(value, str) and operator == self._shapes.contextual:
            return attribute(UNKNOWN, value)
        return value

    def _call(self, node: Node, kind: str, depth: int) -> Expression:
        shapes = self._shapes
        if kind not in shapes.constructs:
            callee, arguments, _ = self.callee(node, depth)
            if str(callee) in shapes.getters and (found := self._got(arguments, depth)):
                return found
            if isinstance(callee, str) and callee in shapes.makers and arguments is not None:
                return self._made(part(arguments, "0"), depth)
            if callee and shapes.passes_all and arguments is not None:
                return [CALL, callee, *self._passed(arguments, depth, MAX_ARGUMENTS)]
            if callee and last_name(callee) in shapes.passing:
                return [CALL, callee, *self._passed(arguments, depth)]
            if callee and shapes.creator and self._creates(node):
                return [CALL, [NEW, callee]]
            return [CALL, callee] if callee else UNKNOWN
        body = next((each for each in node.children if each.type in shapes.bodies), None)
        if body is not None and (number := self._function(body)):
            return [CALL, [NEW, number]]
        return self._made(part(node, shapes.constructs[kind][0]), depth)

    def _made(self, node: Node | None, depth: int) -> Expression:
        """Return an instance of a type: `new Cart` → a `Cart`; an array keeps its element type."""
        written = self.read(node, depth)
        is_array = isinstance(written, list) and written[:2] == [GENERIC, ARRAY]
        made = written if is_array else plain(written)
        return [CALL, [NEW, made]] if made else UNKNOWN

    def _array(self, node: Node, element: Expression) -> Expression:
        """Return the type of an array, in as many dimensions as are written: `int[][]` → two."""
        if not element:
            return UNKNOWN
        sizes = [child for child in node.children if child.type in self._shapes.dimensions]
        for _ in range(max(1, sum(self.text(each).count("[") for each in sizes))):
            element = [GENERIC, ARRAY, element]
        return element

    def _operation(self, node: Node, fields: tuple[str, str, str], depth: int) -> Expression:
        """Read the value of an operator: `a < b` → a truth value, `"a" + b` → a text.

        The rules of a language tell the value of other operators from those of the operands.
        """
        operator, left, right = (part(node, each) for each in fields)
        symbol = self.text(operator) if operator is not None else ""
        if symbol in _COMPARING:
            return [LITERAL, self._shapes.truth]
        second = self.read(right, depth)
        if second == TEXT:
            return second
        first = self.read(left, depth)
        if first == TEXT or right is None:
            return first
        return [OPERATION, symbol, first, second] if first and second else UNKNOWN

    def _passed(
        self, arguments: Node | None, depth: int, limit: int = MAX_PASSED
    ) -> list[Expression]:
        """Read the leading arguments of a call that are passed by position."""
        given = arguments.named_children[:limit] if arguments is not None else []
        return [self.read(each, depth) for each in given if "comment" not in each.type]

    def _got(self, arguments: Node | None, depth: int) -> Expression:
        """Read an attribute that a function gives: `getattr(cart, "add")` → `cart.add`."""
        given = arguments.named_children if arguments is not None else []
        if len(given) < 2 or given[1].type not in self._shapes.literals:
            return UNKNOWN
        name = self.text(given[1]).strip("\"'")
        if not name.isidentifier():
            return UNKNOWN
        found = attribute(self.read(given[0], depth), name)
        default = self.read(given[2], depth) if len(given) > 2 else UNKNOWN
        is_known = default and default[0] != LITERAL
        return [EITHER, found, default] if is_known else found

    def _creates(self, node: Node) -> bool:
        name = part(node, self._shapes.methods[node.type][1])
        return name is not None and self.text(name) == self._shapes.creator

    def _literal(self, node: Node, kind: str, depth: int) -> Expression:
        shapes = self._shapes
        if kind in shapes.choices:
            condition = node.child_by_field_name("condition")
            children = [child for child in node.named_children if child != condition]
            chosen = [child for child in children if not self._is_nothing(child)]
            if len(chosen) == 1:
                return self.read(chosen[0], depth)
            return [EITHER, *(self.read(child, depth) for child in chosen)]
        if parts := shapes.conditions.get(kind):
            return [EITHER, *(self.read(part(node, each), depth) for each in parts)]
        if element := shapes.comprehensions.get(kind):
            return self._comprehension(part(node, element), depth)
        if kind in shapes.sequences:
            items = _first_children(node)
            if items and items[0].type in shapes.pairs:
                return self._mapping(node, depth)
            if len(items) == 1 and kind in shapes.lists:
                return self.read(items[0], depth)
            return [SEQUENCE, *(self.read(child, depth) for child in items)]
        if kind in shapes.mappings:
            return self._mapping(node, depth)
        if kind in shapes.literals:
            suffix = self.text(node)[-1:].lower() if shapes.suffixes else ""
            return [LITERAL, shapes.suffixes.get(kind + suffix, shapes.literals[kind])]
        return self._function(node) if kind in shapes.functions else UNKNOWN

    def _comprehension(self, element: Node | None, depth: int) -> Expression:
        """Read a comprehension as a container of one item: `[f(x) for x in y]` → `[f(x)]`."""
        fields = self._shapes.pairs.get(element.type) if element is not None else None
        if element is None or fields is None:
            return [SEQUENCE, self.read(element, depth)]
        return [MAPPING, "", self.read(part(element, fields[1]), depth)]

    def _is_nothing(self, node: Node) -> bool:
        """Whether a choice has no members that a file could define: `null`, `number`."""
        return node.type in self._shapes.nothing and self.text(node) not in self._shapes.anything

    def _attribute(self, node: Node, fields: tuple[str, str], depth: int) -> Expression:
        name = part(node, fields[1])
        if name is None:
            return UNKNOWN
        owner = self.read(part(node, fields[0]), depth)
        if name.type in self._shapes.generics or name.type in self._shapes.attributes:
            inner = self.read(name, depth)
            if isinstance(inner, list) and inner[0] == GENERIC and isinstance(owner, str):
                return [GENERIC, f"{owner}.{inner[1]}", *inner[2:]]
            return inner
        return attribute(owner, self.text(name).lstrip(".?" + self._shapes.sigil))

    def _generic(self, node: Node, arguments_type: str, depth: int) -> Expression:
        """Read a type with arguments: `List<Cart>`; one that wraps its argument is the argument.

        `Promise<Cart>` → `Cart`.
        """
        for child in node.named_children:
            if child.type == arguments_type:
                arguments = [self.read(each, depth) for each in child.named_children]
                text = self._source[node.start_byte : child.start_byte].decode("utf-8", "replace")
                base = ".".join(text.replace("::", ".").split())
                if arguments and base.rpartition(".")[2] in self._shapes.transparent:
                    return arguments[0]
                return [GENERIC, base, *arguments]
        return self.dotted(node)

    def _looked_up(self, node: Node, depth: int) -> Expression:
        """Read the type of a value, or of a member of a type: `typeof cart`, `Shop["cart"]`."""
        named = self.read(part(node, "0"), depth)
        key = part(node, "1")
        if key is None or not named:
            return [GENERIC, _TYPE, named] if named else UNKNOWN
        text = self.text(key).strip("\"'")
        return [GENERIC, _TYPE, [ATTRIBUTE, [DECLARED, named, UNKNOWN], text]]

    def _item(self, node: Node, fields: tuple[str, str], depth: int) -> Expression:
        owner = self.read(part(node, fields[0]), depth)
        key = part(node, fields[1])
        if self._shapes.unions and last_name(owner) in self._shapes.unions:
            written = node.children_by_field_name(fields[1])
            return [EITHER, *(self._type_name(each, depth) for each in written)]
        return [ITEM, owner, self._key(key)] if owner else UNKNOWN

    def _type_name(self, node: Node, depth: int) -> Expression:
        """Read a type, which may be written as a string: `Union["Cart", None]`."""
        text = self.text(node).strip("\"'")
        is_written = node.type in self._shapes.literals and _DOTTED.match(text)
        return text if is_written else self.read(node, depth)

    def _key(self, node: Node | None) -> str:
        """Return the text of a literal key: `xs[0]` → `0`; an empty one for any other key."""
        if node is None or node.type not in self._shapes.literals:
            return ""
        return self.text(node)

    def _mapping(self, node: Node, depth: int) -> Expression:
        pairs: list[Expression] = []
        shapes = self._shapes
        for child in self._members(node):
            if fields := shapes.pairs.get(child.type):
                key, value = part(child, fields[0]), part(child, fields[1])
                if key is not None and value is not None:
                    pairs += [self._pair_key(key), self.read(value, depth)]
            elif fields := shapes.typed_pairs.get(child.type):
                key, kind = part(child, fields[0]), self.read(part(child, fields[1]), depth)
                value_of = [DECLARED, kind, UNKNOWN] if kind else UNKNOWN
                pairs += [self.text(key), value_of] if key is not None else []
            elif child.type in shapes.patterns:
                target = self.read(part(child, shapes.patterns[child.type]), depth)
                pairs += [target if isinstance(target, str) else "", target]
            elif child.type in shapes.functions:
                name = child.child_by_field_name("name")
                pairs += [self.text(name), self._function(child)] if name is not None else []
            elif child.type in shapes.names:
                pairs += [self.text(child), self.read(child, depth)]
        return [MAPPING, *pairs]

    def _members(self, node: Node) -> list[Node]:
        """Return the first children of an object, and more where they cost little to read."""
        children = node.named_children[:MAX_MEMBERS] if self._shapes.typed_pairs else []
        if len(children) <= MAX_ITEMS:
            return _first_children(node)
        cheap = self._shapes.names | self._shapes.functions
        return [
            child
            for number, child in enumerate(children)
            if number < MAX_ITEMS or child.type in cheap or _type_of(part(child, "value")) in cheap
        ]

    def _pair_key(self, node: Node) -> str:
        if node.type in self._shapes.literals:
            return self._key(node)
        text = self.text(node).lstrip(".")
        is_name = text.replace("$", "_").isidentifier()
        return text if is_name and node.type not in self._shapes.names else ""

    def text(self, node: Node, limit: int = MAX_TEXT) -> str:
        """Return the source text of a node, cut to a bound."""
        end = min(node.end_byte, node.start_byte + limit)
        return self._source[node.start_byte : end].decode("utf-8", "replace")


def _type_of(node: Node | None) -> str:
    return node.type if node is not None else ""


def _first_children(node: Node) -> list[Node]:
    """Return the first named children: a table of data may have thousands of them."""
    if node.named_child_count <= MAX_ITEMS:
        return node.named_children
    found = (node.named_child(number) for number in range(MAX_ITEMS))
    return [child for child in found if child is not None]
