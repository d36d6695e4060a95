"""Members of objects that are written out or assigned, and what `this` is in their functions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ctx_indexer.graph.values import (
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    ARROW,
    CLASS,
    FUNCTION,
    LAMBDA,
    MAPPING,
    MEMBER,
    TYPED,
    UNKNOWN,
    Binding,
    Call,
    Expression,
    SymbolTable,
    last_name,
)

if TYPE_CHECKING:
    from ctx_indexer.graph.files import FileSymbols
    from ctx_indexer.graph.resolver import Resolver

# Methods that pass what they are called on, or its elements, to a function: the parameters for it.
_PASSING_ELEMENTS = {
    **dict.fromkeys("forEach map filter find findLast findIndex some every flatMap".split(), (0,)),
    **dict.fromkeys(("reduce", "reduceRight"), (1,)),
    "sort": (0, 1),
}
_PASSING_ALL = {"then": (0,)}  # a promise stands for its value
OUTSIDE = -1  # the scope of a name that the file does not bind


class FileObjects:
    """The functions of one file that are members of objects, indexed once."""

    def __init__(self, table: SymbolTable, dotted: Mapping[str, Sequence[Binding]]) -> None:
        self._table = table
        self._dotted = dotted  # assignments to dotted names, by the whole name

    @cached_property
    def assigned(self) -> dict[int, Binding]:
        """Functions that are assigned to a member of a name, by their scope."""
        return {
            binding.value[1]: binding
            for bindings in self._dotted.values()
            for binding in bindings
            if isinstance(binding.value, list) and binding.value[0] == LAMBDA
        }

    @cached_property
    def holders(self) -> dict[int, tuple[int, Expression]]:
        """The objects that functions are written in, with the scope around, by the functions."""
        found: dict[int, tuple[int, Expression]] = {}
        for scope, value in self._held():
            pending = [value]
            while pending:
                each = pending.pop()
                if not isinstance(each, list):
                    continue
                if each and each[0] == MAPPING:
                    functions = [e[1] for e in each if isinstance(e, list) and e[:1] == [LAMBDA]]
                    found.update((number, (scope, each)) for number in functions)
                pending += each
        return found

    def _held(self) -> Iterator[tuple[int, Expression]]:
        """Yield the expressions that may hold objects, with their scopes."""
        yield from ((each.scope, each.value) for each in self._table.bindings)
        yield from ((each.scope, each.value) for each in self._table.results)
        for number, written in enumerate(self._table.given()):
            if LAMBDA in written:
                call = self._table.calls[number]
                yield call.scope, list(call.arguments)

    @cached_property
    def given_to(self) -> dict[int, Call]:
        """The calls that unnamed functions are passed to first, by the functions."""
        found: dict[int, Call] = {}
        for number, written in enumerate(self._table.given()):
            if written.startswith(f'[["{LAMBDA}"'):
                call = self._table.calls[number]
                found[call.arguments[0][1]] = call
        return found


class Objects:
    """Resolves members of objects that have no class."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver

    def member(
        self, file: "FileSymbols", place: ScopeRef, values: Values, expression: str
    ) -> Values:
        """Return what a dotted name stands for, whose first name has values."""
        first, second, *rest = expression.split(".")
        if first in file.rules.instance and (named := self.named_this(file, place)):
            place, first = named
        assigned = self.assigned(file, place, first, second)
        values = self._resolver.attribute(values, second)
        if assigned:
            values = assigned | {value for value in values if value.kind == DEFINITION}
        for name in rest:
            values = self._resolver.attribute(values, name)
        return values

    def bound(self, file: "FileSymbols", bindings: Sequence[Binding]) -> list[Values]:
        """Return what bindings of a name give; a declared type says more than what is assigned."""
        found = [self._resolver.binding(file.path, each) for each in bindings]
        if len(bindings) < 2 or not file.rules.objects:
            return found
        typed = [each for each, b in zip(found, bindings, strict=True) if b.how == TYPED]
        known = (INSTANCE, LITERAL_VALUE)
        return [each for each in typed if any(v.kind in known for v in each)] or found

    def assigned(self, file: "FileSymbols", place: ScopeRef, owner: str, name: str) -> Values:
        """Return what the file assigns to a member of a name that a place sees."""
        bindings = file.dotted.get(f"{owner}.{name}", ())
        if not bindings or owner in file.rules.instance:
            return NOTHING
        home = _binder(file, place.scope, owner)
        if home >= 0 and any(each.name == owner for each in file.scope(home).parameters):
            return NOTHING  # what is passed may have another member of that name
        kept = [each for each in bindings if _binder(file, each.scope, owner) == home]
        return self._values(file, kept)

    def of_definition(self, place: ScopeRef, name: str) -> list[Values]:
        """Return what its file assigns to a member of a function or class."""
        file = self._resolver.tables.file(place.path)
        if file is None or not file.rules.objects:
            return []
        scope = file.scope(place.scope)
        bindings = file.dotted.get(f"{scope.name}.{name}", ())
        kept = [b for b in bindings if _binder(file, b.scope, scope.name) == scope.parent]
        return [self._values(file, kept)] if kept else []

    def _values(self, file: "FileSymbols", bindings: Sequence[Binding]) -> Values:
        found: Values = NOTHING
        for each in bindings:
            found |= self._resolver.binding(file.path, each)
        return found

    def this(self, file: "FileSymbols", place: ScopeRef) -> Values:
        """Return what `this` is: a declared type, an instance, a class, an object."""
        number = _around(file, place.scope)
        typed = file.scope(number or place.scope).parameters[:1]
        if typed and typed[0].name in file.rules.instance:
            return self._resolver.calls.parameter(file, number or place.scope, 0)
        if number is None:
            return self._of_class(file, place)
        if not number:
            return UNRESOLVED_VALUES
        if MEMBER not in file.scope(number).marks:
            return frozenset([Value(INSTANCE, file.path, number)])  # of what it constructs
        if (named := self._assigned_to(file, number)) is not None:
            return self._resolver.evaluate(ScopeRef(file.path, named.scope), _owner(named))
        scope, held = file.objects.holders.get(number, (number, UNKNOWN))
        return self._resolver.evaluate(ScopeRef(file.path, scope), held)

    def _of_class(self, file: "FileSymbols", place: ScopeRef) -> Values:
        """Return what `this` is in a class: an instance, which may be of a subclass, or itself."""
        classes = self._resolver.classes.around(place)
        receiver = file.receiver(place.scope)
        if receiver is not None and file.of_class(receiver.method):
            return classes
        return self._resolver.instances(classes, OPEN) or UNRESOLVED_VALUES

    def named_this(self, file: "FileSymbols", place: ScopeRef) -> tuple[ScopeRef, str] | None:
        """Return the name of the object that a function is assigned to, and where it is read."""
        number = _around(file, place.scope)
        if not number or MEMBER not in file.scope(number).marks:
            return None
        named = self._assigned_to(file, number)
        return (ScopeRef(file.path, named.scope), _owner(named)) if named else None

    def _assigned_to(self, file: "FileSymbols", number: int) -> Binding | None:
        return file.objects.assigned.get(number)

    def passed(self, file: "FileSymbols", number: int, position: int) -> Values | None:
        """Return what a method of a container or promise passes to a function; None for others."""
        call = file.objects.given_to.get(number)
        name = last_name(call.function) if call is not None else ""
        passes = {**_PASSING_ELEMENTS, **_PASSING_ALL}.get(name, ())
        if call is None or position not in passes:
            return None
        owner = call.function[1] if isinstance(call.function, list) else _before(call.function)
        values = self._resolver.evaluate(ScopeRef(file.path, call.scope), owner)
        if name in _PASSING_ALL:
            return frozenset(v for v in values if v.kind in (INSTANCE, LITERAL_VALUE)) or None
        held = frozenset(value for value in values if value.kind == LITERAL_VALUE)
        return self._resolver.containers.elements(held) if held else None


def _around(file: "FileSymbols", number: int) -> int | None:
    """Return the function whose `this` a scope sees, 0 without one; None in code of a class."""
    while number > 0:
        scope = file.scope(number)
        if scope.kind == CLASS or scope.owner or file.scope(scope.parent).kind == CLASS:
            return None
        if scope.kind == FUNCTION and ARROW not in scope.marks:
            return number
        number = scope.parent
    return 0


def _binder(file: "FileSymbols", number: int, name: str) -> int:
    """Return the scope that binds a name which another one sees."""
    while number >= 0:
        scope = file.scope(number)
        is_bound = (number, name) in file.bindings or (number, name) in file.imports
        if is_bound or any(each.name == name for each in scope.parameters):
            return number
        number = scope.parent
    return OUTSIDE


def _owner(binding: Binding) -> str:
    return _before(str(binding.target))


def _before(dotted: str) -> str:
    return dotted.rpartition(".")[0]
