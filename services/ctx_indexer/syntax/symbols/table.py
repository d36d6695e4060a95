"""The symbol table of a file: its scopes, the values of their names, and the calls in them.

A table depends on its file alone; the graph resolves names across files when it is asked.
"""

import json
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

# An expression is a dotted name ("self.client.get", "" where it is unknown), or a list that starts
# with its operator: [CALL, function], [ATTRIBUTE, object, name], [ITEM, object, key],
# [EITHER, …], [SEQUENCE, …], [MAPPING, key, value, …], [LAMBDA, scope number],
# [LITERAL, type], [NEW, class], [GENERIC, type, arguments…], [DECLARED, type, value],
# [ITERATED, object], [OPERATION, operator, left, right], [CHANGED, value], [OUTER, value]. Where a
# function passes its arguments on, its call has them as well: [CALL, function, argument, …].
Expression = str | list[Any]
UNKNOWN = ""
CALL, ATTRIBUTE, ITEM, EITHER = "()", ".", "[]", "|"
SEQUENCE, MAPPING, LAMBDA, LITERAL = "[", "{", "def", "'"
NEW, GENERIC, DECLARED, OPERATION = "new", "<", "::", "+"
CHANGED = ":="  # a later value of a variable, whose type its declaration says
OUTER = "^"  # a value that the scope around evaluates: the second `a` of `a := a.New()` in Go
ARRAY = "[]"  # the type of an array: [GENERIC, ARRAY, type]
TUPLE = "()"  # the type of several results: [GENERIC, TUPLE, type, type]

# Kinds of scopes. Namespaces and blocks are no part of symbol paths; an extension adds members to
# its owner: `impl Cart { … }` of Rust to `Cart`.
MODULE, FUNCTION, CLASS = "module", "function", "class"
NAMESPACE, EXTENSION, BLOCK = "namespace", "extension", "block"
COMPRESSION = 1  # zlib's level: a table shrinks to a fifth, and higher ones take longer
FILE_SCOPE = 0  # the scope of the file itself
_SEPARATOR = "\n"  # stands between stored mentions

# How a binding gives a name its value: by the expression…
ASSIGNED = "="  # …itself: `cart = make()`
TYPED = ":"  # …as a type: `cart: Cart` is an instance of it, or of a subclass
HELD = "!"  # …as a type of exactly this instance: `Cart cart;` of C++, no pointer to one
ITERATED = "in"  # …by an element of it: `for cart in carts`
ENTERED = "with"  # …by the result of its `__enter__`: `with open() as file`

# Marks of scopes.
DECLARATION = "declared"  # the function has no body, or the class is an interface
LOCAL = "local"  # other files do not see it: `static void f()` of C
FIXED = "fixed"  # no subclass replaces it: `final`
MEMBER = "member"  # an object has the function: `{ run() {} }` binds no name `run`
OF_CLASS = "static"  # the class has the member, its instances do not
GETTER = "getter"  # the function runs where its name is read: `get total()`
ARROW = "arrow"  # the function has no `this` of its own: `() => …`

BY_NAME = "="  # starts an argument that is passed by name: [BY_NAME, name, expression]
# The receiver of a function that extends its owner from inside another type: of C#'s
# `class Totals { static int Of(this Cart cart) }` the owner is `Cart`.
IN_TYPE = "."
WHOLE_MODULE = ""  # the name of an import that takes the module itself
EVERY_NAME = "*"  # the name of an import that takes all names of the module


class Parameter(NamedTuple):
    """A parameter with its annotated type and its default; `name` keeps leading stars."""

    name: str
    type: Expression = UNKNOWN
    default: Expression = UNKNOWN


class Scope(NamedTuple):
    """A file, function or class; lines are counted from 1, `parent` is -1 for the file.

    `owner` is the type that has it as a member from outside: `Cart` of `void Cart::add()`.
    """

    name: str
    path: str
    kind: str
    start: int
    end: int
    parent: int
    bases: Sequence[Expression] = ()
    parameters: Sequence[Parameter] = ()
    returns: Expression = UNKNOWN  # the annotated type
    decorators: Sequence[Expression] = ()
    owner: Expression = UNKNOWN
    receiver: str = ""  # the name that the code gives its instance: `c` of `func (c *Cart) Add()`
    marks: Sequence[str] = ()  # DECLARATION, LOCAL, MEMBER, …


class Binding(NamedTuple):
    """A name, or a dotted target such as `self.x`, that a scope binds to an expression."""

    scope: int
    target: Expression
    how: str
    value: Expression


class Import(NamedTuple):
    """A name that a scope imports."""

    scope: int
    alias: str
    module: str
    name: str
    line: int


class Result(NamedTuple):
    """An expression that a function returns or yields."""

    scope: int
    value: Expression


class Call(NamedTuple):
    """A call and its arguments: expressions, or [BY_NAME, name, expression] by name."""

    scope: int
    line: int
    function: Expression
    arguments: Sequence[Any] = ()


class Read(NamedTuple):
    """An attribute that is read and not called, or is ASSIGNED: a property may run there."""

    scope: int
    line: int
    value: Expression
    how: str = ""


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """The rows of one file, from which the graph resolves its names and calls."""

    language: str
    scopes: Sequence[Scope] = ()
    bindings: Sequence[Binding] = ()
    imports: Sequence[Import] = ()
    results: Sequence[Result] = ()
    calls: Sequence[Call] = ()
    reads: Sequence[Read] = ()
    package: str = ""  # the package or namespace that the file declares
    # The last names that the file calls, imports or inherits, and `+name` for those it defines.
    mentions: Sequence[str] = field(default=())

    @property
    def size(self) -> int:
        """The number of all rows and mentions, which is the table's weight in a cache."""
        rows = (self.scopes, self.bindings, self.imports, self.results, self.calls, self.reads)
        return sum(map(len, rows)) + len(self.mentions)

    def called(self) -> Sequence[Expression]:
        """Return the called expression of each call, without reading the arguments."""
        if isinstance(self.calls, StoredCalls):
            return self.calls.functions
        return [call.function for call in self.calls]

    def given(self) -> Sequence[str]:
        """Return the arguments of each call as JSON: `f(a)` → `["a"]`, `f()` → an empty text."""
        if isinstance(self.calls, StoredCalls):
            return self.calls.arguments
        return [_json(call.arguments) if call.arguments else "" for call in self.calls]

    def encode(self) -> str:
        """Encode the table as compressed JSON.

        Bindings, calls and reads are stored column by column, so that decoding makes few objects;
        the paths of scopes are left out, and decoding joins them from the names.
        """
        parts = [
            self.language,
            self.package,
            _SEPARATOR.join(self.mentions),
            [_trimmed((scope.name, *scope[2:])) for scope in self.scopes],
            _columns(self.bindings, len(Binding._fields)),
            self.imports,
            self.results,
            _columns(map(_stored_call, self.calls), len(Call._fields)),
            _columns(self.reads, len(Read._fields)),
        ]
        text = _json(parts).encode()
        return b2a_base64(zlib.compress(text, COMPRESSION), newline=False).decode()


class StoredCalls(Sequence[Call]):
    """The calls of a stored table; one that is asked for is made then, with its arguments."""

    def __init__(
        self,
        scopes: Sequence[int],
        lines: Sequence[int],
        functions: Sequence[Expression],
        arguments: Sequence[str],
    ) -> None:
        self.functions = functions
        self.arguments = arguments  # JSON of each call's
        self._scopes = scopes
        self._lines = lines

    @overload
    def __getitem__(self, number: int) -> Call: ...

    @overload
    def __getitem__(self, number: slice) -> list[Call]: ...

    def __getitem__(self, number: int | slice) -> Call | list[Call]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        written = self.arguments[number]
        given = json.loads(written) if written else ()
        return Call(self._scopes[number], self._lines[number], self.functions[number], given)

    def __len__(self) -> int:
        return len(self.functions)


def _stored_call(call: Call) -> Sequence[Any]:
    return *call[:-1], _json(call.arguments) if call.arguments else ""


def _columns(rows: Iterable[Sequence[Any]], width: int) -> list[Sequence[Any]]:
    return list(zip(*rows, strict=True)) or [()] * width


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def decode_table(text: str) -> SymbolTable:
    """Decode an encoded table. Raises ValueError, TypeError or zlib.error for any other text."""
    parts = json.loads(zlib.decompress(a2b_base64(text)))
    language, package, mentions, scopes, bindings, imports, results, calls, reads = parts
    return SymbolTable(
        language,
        _decode_scopes(scopes),
        [Binding(*each) for each in zip(*bindings, strict=True)],
        [Import(*each) for each in imports],
        [Result(*each) for each in results],
        StoredCalls(*calls),
        [Read(*each) for each in zip(*reads, strict=True)],
        package,
        mentions.split(_SEPARATOR) if mentions else [],
    )


def _decode_scopes(encoded: Sequence[Sequence[Any]]) -> list[Scope]:
    scopes: list[Scope] = []
    for name, kind, start, end, parent, *rest in encoded:
        outer = scopes[parent].path if parent >= 0 else ""
        if len(rest) > 1:
            rest[1] = [Parameter(*each) for each in rest[1]]
        scope = Scope(name, "", kind, start, end, parent, *rest)
        scopes.append(scope._replace(path=scope_path(outer, scope)))
    return scopes


def scope_path(outer: str, scope: Scope) -> str:
    """Return the qualified name of a scope inside another: `Cart` and `add` → `Cart.add`.

    A namespace or block adds nothing; an owner from outside stands before the name.
    """
    if scope.kind in (NAMESPACE, BLOCK):
        return outer
    in_type = scope.kind == FUNCTION and scope.receiver == IN_TYPE
    owner = "" if in_type else last_name(scope.owner)
    return ".".join(part for part in (outer, owner, scope.name) if part)


def _trimmed(values: Sequence[Any]) -> Sequence[Any]:
    """Drop empty values at the end, which decoding takes for the defaults."""
    end = len(values)
    while end and values[end - 1] in ("", [], ()):
        end -= 1
    return values[:end]


def definition_mention(name: str) -> str:
    """Return the mention of a file that defines a name for other files: `get` → `+get`."""
    return f"+{name}"


def file_mention(path: str) -> str:
    """Return the mention of the file itself: `a/b.py` → `/a/b.py`; no name starts with a slash."""
    return f"/{path}"


def inside(expression: Expression) -> Expression:
    """Return an expression without the operator OUTER around it: `["^", "a.b"]` → `a.b`."""
    is_outer = isinstance(expression, list) and expression[0] == OUTER
    return expression[1] if is_outer else expression


_NAMED_BY_FIRST = frozenset([CALL, ITEM, NEW, GENERIC, CHANGED, OUTER])


def last_name(expression: Expression) -> str:
    """Return the name that an expression ends in: `a.b().c` → c; empty where it has none."""
    while not isinstance(expression, str):
        if expression[0] == ATTRIBUTE:
            return str(expression[2])
        if expression[0] not in _NAMED_BY_FIRST:
            return ""
        expression = expression[1]
    return expression.rpartition(".")[2]


def called_member(function: Expression) -> tuple[Expression, str]:
    """Return the receiver and name of a called member: `a.b.run` → `a.b`, `run`; else empty."""
    if isinstance(function, str):
        owner, _, name = function.rpartition(".")
        return owner, name
    return (function[1], str(function[2])) if function[0] == ATTRIBUTE else (UNKNOWN, "")


def inner_names(expression: Expression) -> list[str]:
    """Return the names of the attributes that an expression reads: `a.b().c` → b, c."""
    if isinstance(expression, str):
        return expression.split(".")[1:]
    if expression[0] == ATTRIBUTE:
        return [*inner_names(expression[1]), str(expression[2])]
    return inner_names(expression[1]) if expression[0] in (CALL, ITEM) else []


# The parts of an expression that are expressions: of `a().b` the call, and not `b`.
_OPERANDS = {
    ATTRIBUTE: slice(1, 2),
    ITEM: slice(1, 2),
    MAPPING: slice(2, None, 2),
    OPERATION: slice(2, None),
    LITERAL: slice(0),
}
_AFTER_OPERATOR = slice(1, None)


def first_names(expression: Expression) -> list[str]:
    """Return the first name of each dotted name in an expression: `a.b().c` → a, `[x, y.z]` → x, y.

    Attributes, keys and types of literals are no names that a scope binds.
    """
    if isinstance(expression, str):
        return [expression.partition(".")[0]]
    operands = expression[_OPERANDS.get(expression[0], _AFTER_OPERATOR)]
    inner = (each for each in operands if isinstance(each, str | list))
    return [name for each in inner for name in first_names(each)]


def plain(expression: Expression) -> Expression:
    """Return a type without its arguments: `List[Cart]` → `List`."""
    if isinstance(expression, list) and expression[0] == GENERIC:
        base: Expression = expression[1]
        return base
    return expression


def attribute(owner: Expression, name: str) -> Expression:
    """Return the expression of an attribute: `a` and `b` → `a.b`, `a()` and `b` → [".", a(), b]."""
    if not owner:
        return [ATTRIBUTE, UNKNOWN, name]
    return f"{owner}.{name}" if isinstance(owner, str) else [ATTRIBUTE, owner, name]
