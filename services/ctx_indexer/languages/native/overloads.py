"""Chooses among the overloads of C++ by their arguments: `f(1)` → `f(int)`, not `f(char *)`."""

from collections.abc import Mapping, Sequence

from ctx_indexer.languages.native.includes import HEADERS
from ctx_indexer.languages.semantics.arguments import fits_count
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.overloads import MAX_COMPARED
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    LAMBDA,
    LITERAL,
    LOCAL,
    Call,
    Expression,
    Parameter,
    Scope,
    last_name,
)

_NUMBERS = frozenset(
    "int long short double float unsigned size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t"
    " uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t".split()
)
_TEXTS = frozenset(["string", "string_view"])
# A kind of literal → its type: `"a"` is a `char*`.
_OWN_TYPES = {"string": "char*", "char": "char", "bool": "bool", "number": "int"}
# A kind of argument → the types that it is never converted to: `"a"` to no `int`.
_REFUSED = {
    "string": _NUMBERS | {"char"},
    "char*": _NUMBERS,
    "text": _NUMBERS | {"bool", "char", "char*"},
    "number": _TEXTS,
    "char": _TEXTS | {"char*"},
    "bool": _TEXTS | {"char*"},
}


class Closest:
    """Leaves out the overloads that a call does not run, as far as types are known."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def closest(self, place: ScopeRef, call: Call, values: Values) -> Values:
        """Return the overloads that a call may run: one where the types of its arguments decide."""
        heads = {value: scope for value in values if (scope := self._machine.function_of(value))}
        if not heads or len(heads) < len(values) or len(heads) > MAX_COMPARED:
            return values
        if copied := self._copied(place, call, heads):
            return copied
        count = len(call.arguments)
        counted = {v: head for v, head in heads.items() if self._counts(v, head, count)}
        if len(heads) == 1:  # a call that does not fit runs a function that is not known
            return frozenset(counted) or UNRESOLVED_VALUES
        viable = {
            value: head
            for value, head in counted.items()
            if self._takes(place, value, head, call.arguments)
        }
        rest = viable or counted or heads
        same = [v for v, head in rest.items() if self._is_same(place, v, head, call, rest)]
        return frozenset(same or rest)

    def _copied(self, place: ScopeRef, call: Call, heads: Mapping[Value, Scope]) -> Values:
        """Return the class of a copy without a written constructor: `Cart b(a);`; else nothing."""
        if len(call.arguments) != 1 or not call.arguments[0]:
            return NOTHING
        classes: set[Value] = set()
        for value, head in heads.items():
            file = self._machine.file(value.path)
            if file is None or not file.is_constructor(value.scope) or self._copies(value, head):
                return NOTHING
            classes |= self._machine.classes.around(ScopeRef(value.path, value.scope))
        given = self._machine.evaluate(place, call.arguments[0])
        is_own = all(
            each.kind == INSTANCE and each._replace(kind=DEFINITION, name="") in classes
            for each in given
        )
        return frozenset(classes) if given and is_own else NOTHING

    def _counts(self, value: Value, head: Scope, count: int) -> bool:
        """Whether a function takes a count of arguments; its declaration may have the defaults."""
        file = self._machine.file(value.path)
        if file is None or fits_count(self._machine, value, count):
            return True
        if count > len(head.parameters):
            return False
        if not head.owner:
            return LOCAL not in head.marks and not file.path.endswith(HEADERS)
        name = CONSTRUCTOR if file.is_constructor(value.scope) else head.name
        return any(
            fits_count(self._machine, each, count)
            for class_ in self._machine.classes.classes_at(file, value.scope)
            for each in self._declared(class_, name)
            if (other := self._machine.function_of(each))
            and len(other.parameters) == len(head.parameters)
        )

    def _declared(self, class_: Value, name: str) -> list[Value]:
        """Return the functions of a name that a class declares or defines inside of it."""
        file = self._machine.file(class_.path)
        bindings = file.bindings.get((class_.scope, name), ()) if file else ()
        return [
            Value(DEFINITION, class_.path, each.value[1])
            for each in bindings
            if isinstance(each.value, list) and each.value[0] == LAMBDA
        ]

    def _takes(
        self, place: ScopeRef, value: Value, head: Scope, arguments: Sequence[Expression]
    ) -> bool:
        """Whether every argument may be converted to its parameter."""
        home = ScopeRef(value.path, value.scope)
        own = self._machine.classes.around(home) if self._copies(value, head) else None
        return all(
            self._converts(place, home, parameter.type, argument, own)
            for parameter, argument in zip(head.parameters, arguments, strict=False)
        )

    def _copies(self, value: Value, head: Scope) -> bool:
        """Whether a function is a constructor that takes an instance of its own class."""
        file = self._machine.file(value.path)
        if file is None or not file.is_constructor(value.scope) or len(head.parameters) != 1:
            return False
        return last_name(head.parameters[0].type) == head.name

    def _converts(
        self,
        place: ScopeRef,
        home: ScopeRef,
        expected: Expression,
        given: Expression,
        copied: Values | None = None,
    ) -> bool:
        """Whether an argument may be of a type, or be converted to it; an unknown one may."""
        wanted = last_name(expected)
        if _is_literal(given):
            if copied is not None:
                return False
            return wanted not in _REFUSED.get(given[1], ()) and self._constructs(
                place, home, expected, given
            )
        every = self._machine.evaluate(place, given) if given else frozenset()
        names = {_type_name(value) for value in every if value.kind == EXTERNAL}
        held = [value for value in every if value.kind == INSTANCE]
        if not every or len(names) + len(held) < len(every) or "" in names:
            return True
        if names:
            if copied is not None or any(wanted in _REFUSED.get(_kind(n), ()) for n in names):
                return False
            return self._constructs(place, home, expected, given)
        return self._inherits(place, home, expected, given, held)

    def _inherits(
        self,
        place: ScopeRef,
        home: ScopeRef,
        expected: Expression,
        given: Expression,
        held: Sequence[Value],
    ) -> bool:
        """Whether instances are of a type, or are converted to it."""
        classes = self._classes(home, expected)
        if not classes:
            return last_name(expected) not in _NUMBERS | _TEXTS | {"char", "char*"}
        ancestors = self._machine.classes.ancestors
        for each in held:
            above = {Value(DEFINITION, *a) for a in ancestors(ScopeRef(each.path, each.scope))}
            if above & classes:
                return True
        return self._constructs(place, home, expected, given)

    def _constructs(
        self, place: ScopeRef, home: ScopeRef, expected: Expression, given: Expression
    ) -> bool:
        """Whether a class has a constructor that may take an argument; other types are taken."""
        classes = self._classes(home, expected)
        return not classes or any(self._has_constructor(place, e, given) for e in classes)

    def _has_constructor(self, place: ScopeRef, class_: Value, given: Expression) -> bool:
        found = self._machine.classes.own(ScopeRef(class_.path, class_.scope), CONSTRUCTOR)
        for value in found:
            head = self._machine.function_of(value)
            if head is None or self._copies(value, head):
                continue
            if not self._counts(value, head, 1):
                continue
            home = ScopeRef(value.path, value.scope)
            if self._is_type(place, home, head.parameters[:1], given):
                return True
        return False

    def _is_type(
        self, place: ScopeRef, home: ScopeRef, taken: Sequence[Parameter], given: Expression
    ) -> bool:
        """Whether a converting constructor's parameter may be of an argument's type."""
        if not taken or not taken[0].type:
            return True
        expected = taken[0].type
        if self._classes(home, expected):
            return self._identical(place, home, expected, given)
        if _is_literal(given):
            return last_name(expected) not in _REFUSED.get(given[1], ())
        names = [_type_name(v) for v in self._machine.evaluate(place, given)]
        return not any(last_name(expected) in _REFUSED.get(_kind(n), ()) for n in names)

    def _is_same(
        self,
        place: ScopeRef,
        value: Value,
        head: Scope,
        call: Call,
        rest: dict[Value, Scope],
    ) -> bool:
        """Whether arguments have exactly the types of the parameters in which overloads differ."""
        home = ScopeRef(value.path, value.scope)
        for position, argument in enumerate(call.arguments):
            types = {_type_at(each, position) for each in rest.values()}
            if len(types) == 1:
                continue
            if position >= len(head.parameters):
                return False
            if not self._identical(place, home, head.parameters[position].type, argument):
                return False
        return True

    def _identical(
        self, place: ScopeRef, home: ScopeRef, expected: Expression, given: Expression
    ) -> bool:
        """Whether an argument is known to be of exactly a type: `1` of `int`, not of `long`."""
        if not expected or not given:
            return False
        if _is_literal(given):
            return last_name(expected) == _OWN_TYPES.get(given[1])
        every = self._machine.evaluate(place, given)
        if not every:
            return False
        classes = self._classes(home, expected)
        if classes:
            return all(
                each.kind == INSTANCE and each._replace(kind=DEFINITION, name="") in classes
                for each in every
            )
        wanted = last_name(expected)
        return all(each.kind == EXTERNAL and _type_name(each) == wanted for each in every)

    def _classes(self, home: ScopeRef, expected: Expression) -> Values:
        """Return the classes of the repository that a type names."""
        outer = self._outer(home)
        values = self._machine.evaluate(outer, expected) if expected else frozenset()
        return frozenset(v._replace(name="") for v in values if v.kind == DEFINITION)

    def _outer(self, home: ScopeRef) -> ScopeRef:
        file = self._machine.file(home.path)
        scope = file.scope(home.scope) if file else None
        return home if scope is None or scope.owner else ScopeRef(home.path, scope.parent)


def _is_literal(given: Expression) -> bool:
    return isinstance(given, list) and bool(given) and given[0] == LITERAL


def _type_name(value: Value) -> str:
    """Return the name of a type from outside: `builtins.int` → `int`; empty for a result."""
    return "" if "(" in value.name else value.name.rpartition(".")[2]


def _kind(name: str) -> str:
    """Return the kind of a type, by which _REFUSED lists the types it is not converted to."""
    if name in _TEXTS:
        return "text"
    return "number" if name in _NUMBERS else name


def _type_at(head: Scope, position: int) -> str:
    return str(head.parameters[position].type) if position < len(head.parameters) else ""
