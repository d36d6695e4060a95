"""Members of objects that are written out or assigned, and `this` in their functions."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
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
    UNKNOWN,
    Binding,
    Call,
    Expression,
    last_name,
)

# A method of a container → the parameters that get its elements: `gears.reduce((sum, gear) => …)`.
_PASSING_ELEMENTS = {
    **dict.fromkeys("forEach map filter find findLast findIndex some every flatMap".split(), (0,)),
    **dict.fromkeys(("reduce", "reduceRight"), (1,)),
    "sort": (0, 1),
}
_PASSING_ALL = {"then": (0,)}  # a method of a promise → the parameters that get its value
OUTSIDE = -1  # the scope of a name that the file does not bind


class FileObjects:
    """The functions of one file that are members of objects, indexed once."""

    def __init__(self, file: FileSymbols) -> None:
        self._table = file.table
        self._dotted = file.dotted

    @cached_property
    def assigned(self) -> dict[int, Binding]:
        """The assignments of functions to members, by function: `app.get = function () {}`."""
        return {
            binding.value[1]: binding
            for bindings in self._dotted.values()
            for binding in bindings
            if isinstance(binding.value, list) and binding.value[0] == LAMBDA
        }

    @cached_property
    def holders(self) -> dict[int, tuple[int, Expression]]:
        """The object that a function is written in, and the scope around, by function.

        `const app = { get() {} }` → for `get` the scope of `app`, and the object.
        """
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
        """The calls whose first argument is an unnamed function, by it: `gears.map(g => …)`."""
        found: dict[int, Call] = {}
        for number, written in enumerate(self._table.given()):
            if written.startswith(f'[["{LAMBDA}"'):
                call = self._table.calls[number]
                found[call.arguments[0][1]] = call
        return found


def objects_of(file: FileSymbols) -> FileObjects:
    """Return the functions of a file that are members of objects."""
    return file.indexed(FileObjects)


def member(
    machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
) -> Values:
    """Return the values of a dotted name; `values` are the values of its first part."""
    first, second, *rest = dotted.split(".")
    if first in file.words.instance and (named := _named_this(file, place)):
        place, first = named
    found = assigned(machine, file, place, first, second)
    values = machine.attribute(values, second)
    if found:
        values = found | {value for value in values if value.kind == DEFINITION}
    for name in rest:
        values = machine.attribute(values, name)
    return values


def assigned(machine: Machine, file: FileSymbols, place: ScopeRef, owner: str, name: str) -> Values:
    """Return the values of a member that a file assigns: `app.get = f` → `f` for `app.get`."""
    bindings = file.dotted.get(f"{owner}.{name}", ())
    if not bindings or owner in file.words.instance:
        return NOTHING
    home = _binder(file, place.scope, owner)
    if home >= 0 and any(each.name == owner for each in file.scope(home).parameters):
        return NOTHING  # the argument for a parameter may have another member of that name
    kept = [each for each in bindings if _binder(file, each.scope, owner) == home]
    return _values(machine, file, kept)


def of_definition(machine: Machine, file: FileSymbols, place: ScopeRef, name: str) -> list[Values]:
    """Return the values that a file assigns to a member of a function or class of it."""
    scope = file.scope(place.scope)
    bindings = file.dotted.get(f"{scope.name}.{name}", ())
    kept = [b for b in bindings if _binder(file, b.scope, scope.name) == scope.parent]
    return [_values(machine, file, kept)] if kept else []


def _values(machine: Machine, file: FileSymbols, bindings: Sequence[Binding]) -> Values:
    found: Values = NOTHING
    for each in bindings:
        found |= machine.binding(file.path, each)
    return found


def this(machine: Machine, file: FileSymbols, place: ScopeRef) -> Values:
    """Return the value of `this`: of a declared type, an instance, a class, or an object."""
    number = _around(file, place.scope)
    typed = file.scope(number or place.scope).parameters[:1]
    if typed and typed[0].name in file.words.instance:
        return machine.parameter(file, number or place.scope, 0)
    if number is None:
        return _of_class(machine, file, place)
    if not number:
        return UNRESOLVED_VALUES
    if MEMBER not in file.scope(number).marks:
        return frozenset([Value(INSTANCE, file.path, number)])  # of the function as a constructor
    if (named := objects_of(file).assigned.get(number)) is not None:
        return machine.evaluate(ScopeRef(file.path, named.scope), _owner(named))
    scope, held = objects_of(file).holders.get(number, (number, UNKNOWN))
    return machine.evaluate(ScopeRef(file.path, scope), held)


def _of_class(machine: Machine, file: FileSymbols, place: ScopeRef) -> Values:
    """Return `this` of a method: an instance, perhaps of a subclass; of a static one the class."""
    classes = machine.classes.around(place)
    receiver = file.receiver(place.scope)
    if receiver is not None and file.of_class(receiver.method):
        return classes
    return machine.instances(classes, OPEN) or UNRESOLVED_VALUES


def _named_this(file: FileSymbols, place: ScopeRef) -> tuple[ScopeRef, str] | None:
    """Return the name of the object that a function is assigned to, and where it is read."""
    number = _around(file, place.scope)
    if not number or MEMBER not in file.scope(number).marks:
        return None
    named = objects_of(file).assigned.get(number)
    return (ScopeRef(file.path, named.scope), _owner(named)) if named else None


def passed(machine: Machine, file: FileSymbols, number: int, position: int) -> Values | None:
    """Return the values that a method of a container or promise passes to a function.

    `gears.forEach(gear => …)` → an element of `gears` for `gear`; None for other functions.
    """
    call = objects_of(file).given_to.get(number)
    name = last_name(call.function) if call is not None else ""
    passes = {**_PASSING_ELEMENTS, **_PASSING_ALL}.get(name, ())
    if call is None or position not in passes:
        return None
    owner = call.function[1] if isinstance(call.function, list) else _before(call.function)
    values = machine.evaluate(ScopeRef(file.path, call.scope), owner)
    if name in _PASSING_ALL:
        return frozenset(v for v in values if v.kind in (INSTANCE, LITERAL_VALUE)) or None
    held = frozenset(value for value in values if value.kind == LITERAL_VALUE)
    return machine.elements(held) if held else None


def _around(file: FileSymbols, number: int) -> int | None:
    """Return the function whose `this` a scope sees; 0 without one, None in the code of a class."""
    while number > 0:
        scope = file.scope(number)
        if scope.kind == CLASS or scope.owner or file.scope(scope.parent).kind == CLASS:
            return None
        if scope.kind == FUNCTION and ARROW not in scope.marks:
            return number
        number = scope.parent
    return 0


def _binder(file: FileSymbols, number: int, name: str) -> int:
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
