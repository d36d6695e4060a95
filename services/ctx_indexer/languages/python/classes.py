"""Classes of Python: receivers that are parameters, `super()`, and names in the body of a class."""

from collections import defaultdict
from collections.abc import Sequence

from ctx_indexer.languages.python.library import is_member, paired
from ctx_indexer.languages.semantics.definitions import (
    CONSTRUCTOR,
    Bindings,
    Definitions,
    Receiver,
)
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members
from ctx_indexer.languages.semantics.names import Names
from ctx_indexer.languages.semantics.parameters import Parameters
from ctx_indexer.languages.semantics.receivers import Receivers
from ctx_indexer.languages.semantics.values import (
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    NOTHING,
    OPEN,
    PARENT,
    UNKNOWN_VALUE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.syntax.symbols.table import (
    CLASS,
    FILE_SCOPE,
    LAMBDA,
    Binding,
    Expression,
    first_names,
    last_name,
)

ALLOCATOR = "__new__"
OVERLOAD = "overload"
_STATIC = frozenset(["staticmethod"])
_CLASS_METHODS = frozenset(["classmethod", ALLOCATOR, "__init_subclass__", "__class_getitem__"])
_ADDING = (".append", ".add", ".insert", ".appendleft")  # methods that put their last argument in
MAX_PUT = 50  # calls that add to one container; with more of them it may hold anything


class ExplicitSelf(Receivers):
    """A method names its receiver in its parameters: `def run(self)`."""

    def of_method(self, file: Definitions, number: int) -> Receiver | None:
        scope = file.scope(number)
        if scope.parameters and not _STATIC.intersection(file.marks(number)):
            return Receiver(scope.parent, scope.parameters[0].name, number)
        return None

    def of_class(self, number: int) -> Receiver | None:
        return None  # the body of a class has no instance

    def is_other(self, values: Values) -> bool:
        return any(value.kind == EXTERNAL and is_member(value.name) for value in values)


class Bodies(Names):
    """In the body of a class, `name = name` reads the name of the scope around the class."""

    def keep(self, file: Definitions, found: Bindings) -> None:
        """Leave out declarations of overloads, which nothing runs: `@overload def f(): ...`."""
        for key in _overloaded(file):
            found[key] = _implemented(file, found[key])

    def place_of(self, file: FileSymbols, binding: Binding) -> ScopeRef:
        """Return the scope of a binding's value: around a class whose body binds it to itself."""
        scope = file.scope(binding.scope)
        if scope.kind == CLASS and binding.target in first_names(binding.value):
            return ScopeRef(file.path, scope.parent)
        return ScopeRef(file.path, binding.scope)

    def may_mean(self, *, is_member: bool, by_receiver: bool) -> bool:
        """Whether a call may mean a definition: `x.run()` a member, `run()` any other."""
        return is_member == by_receiver


def _overloaded(file: Definitions) -> set[tuple[int, str]]:
    return {
        (each.parent, CONSTRUCTOR if file.is_constructor(number) else each.name)
        for number, each in enumerate(file.table.scopes)
        if _is_overload(file, number)
    }


def _is_overload(file: Definitions, number: int) -> bool:
    return any(last_name(each) == OVERLOAD for each in file.scope(number).decorators)


def _implemented(file: Definitions, bindings: list[Binding]) -> list[Binding]:
    kept = [
        each
        for each in bindings
        if isinstance(each.value, str)
        or each.value[0] != LAMBDA
        or not _is_overload(file, each.value[1])
    ]
    return kept or bindings


class Attributes(Members):
    """Assignments to attributes of an instance make members, whatever is declared of them."""

    def bindings(
        self, file: FileSymbols, number: int, name: str, *, instance: bool
    ) -> Sequence[Binding]:
        return file.bindings.get((number, name), ())

    def is_declared(self, *, found: bool, typed: bool) -> bool:
        return False

    def paired(
        self, machine: Machine, place: ScopeRef, looped: Expression, key: str
    ) -> Values | None:
        return paired(machine, place, looped, key)

    def added(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, owner: str
    ) -> list[Values]:
        """Return the values that calls add to a container of a name: `xs.append(x)` → `x`.

        Where one of them adds something unknown, it may hold anything.
        """
        added = file.indexed(_additions).get(owner, ())
        if len(added) > MAX_PUT:
            return [UNRESOLVED_VALUES]
        found = [
            machine.evaluate(ScopeRef(place.path, scope), each)
            for scope, each in added
            if _same_owner(file, place.scope, scope, owner)
        ]
        return [UNRESOLVED_VALUES] if any(UNKNOWN_VALUE in each for each in found) else found


def _additions(file: FileSymbols) -> dict[str, list[tuple[int, Expression]]]:
    """Return the expressions that calls add to containers, by the container's dotted name."""
    found: dict[str, list[tuple[int, Expression]]] = defaultdict(list)
    for number, function in enumerate(file.table.called()):
        if isinstance(function, str) and function.endswith(_ADDING):
            call = file.table.calls[number]
            if call.arguments:
                owner = function.rpartition(".")[0]
                found[owner].append((call.scope, call.arguments[-1]))
    return found


def _same_owner(file: FileSymbols, first: int, second: int, name: str) -> bool:
    """Whether a dotted name means the same in two scopes: of one instance, or one function."""
    one, other = file.receiver(first), file.receiver(second)
    if one is not None and other is not None and name.startswith(f"{one.name}."):
        return (one.scope, one.name) == (other.scope, other.name)
    return first == second or (FILE_SCOPE, name) in file.bindings


class Arguments(Parameters):
    """The first parameter of a method is its receiver; others have types that ancestors declare."""

    def values(self, machine: Machine, file: FileSymbols, number: int, position: int) -> Values:
        scope = file.scope(number)
        if position == 0 and scope.parent >= 0:
            receiver = file.receiver(number)
            if receiver is not None and receiver.scope == scope.parent:
                if _takes_class(file, number):
                    return frozenset([Value(DEFINITION, file.path, scope.parent)])
                return frozenset([Value(INSTANCE, file.path, scope.parent, OPEN)])
        parameter = scope.parameters[position]
        if parameter.type:
            return machine.typed(file, number, parameter.type)
        if declared := _declared_above(machine, file, number, parameter.name):
            return declared
        in_class = file.scope(scope.parent).kind == CLASS
        takes_self = in_class and file.receiver(number) is not None
        return machine.passed(file, number, position, 1 if takes_self else 0)


def _takes_class(file: FileSymbols, number: int) -> bool:
    """Whether the first parameter of a method is its class."""
    is_special = file.scope(number).name in _CLASS_METHODS
    return is_special or bool(_CLASS_METHODS.intersection(file.marks(number)))


def _declared_above(machine: Machine, file: FileSymbols, number: int, name: str) -> Values:
    """Return the type of a parameter that the method which this one overrides declares."""
    scope = file.scope(number)
    if file.scope(scope.parent).kind != CLASS:
        return NOTHING
    for place in machine.classes.ancestors(ScopeRef(file.path, scope.parent))[1:]:
        for value in machine.classes.own(place, scope.name):
            home = machine.file(value.path)
            for each in home.scope(value.scope).parameters if home else ():
                if home and each.name == name and each.type:
                    return machine.typed(home, value.scope, each.type)
    return NOTHING


def parents(machine: Machine, place: ScopeRef, arguments: Sequence[Expression]) -> Values:
    """Return the class whose parents `super()` means: the named one, or the one around."""
    file = machine.file(place.path)
    receiver = file.receiver(place.scope) if file else None
    if receiver is None:
        return NOTHING
    own = frozenset([Value(PARENT, place.path, receiver.scope)])
    named = machine.evaluate(place, arguments[0]) if arguments else NOTHING
    after = frozenset(v._replace(kind=PARENT) for v in named if v.kind == DEFINITION)
    return after or own
