"""What calls run and return, and what is passed to parameters."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from ctx_indexer.graph.definitions import ALLOCATOR, CONSTRUCTOR
from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.python.library import gives_anything
from ctx_indexer.graph.typed.fitting import Fitting
from ctx_indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    FILE,
    INSTANCE,
    LACKING_VALUE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    PARENT,
    PASSING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    ATTRIBUTE,
    BY_NAME,
    CLASS,
    FUNCTION,
    MODULE,
    NAMESPACE,
    NEW,
    UNKNOWN,
    Call,
    Expression,
    Scope,
)

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

MAX_SITES = 100  # calls of a function that are looked at for what they pass
MAX_CALLERS_DEEP = 2  # how far a parameter is followed to what callers pass


class Calls:
    """Resolves calls."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self.overloads = Fitting(resolver)

    def called(self, values: Values) -> Values:
        """Return what calling values gives."""
        return union(self._called(value) for value in values)

    def ran(self, values: Values) -> Values:
        """Return what names give in a language where naming a method calls it."""
        return union(
            self.called(frozenset([value])) if self._is_function(value) else frozenset([value])
            for value in values
        )

    def _is_function(self, value: Value) -> bool:
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return False
        scope = file.scope(value.scope)
        in_class = file.scope(scope.parent).kind not in (FUNCTION, MODULE)
        return scope.kind == FUNCTION and in_class

    def _called(self, value: Value) -> Values:
        if value.kind == EXTERNAL:
            return UNRESOLVED_VALUES if gives_anything(value.name) else external(f"{value.name}()")
        if value.kind == INSTANCE:
            return self.called(self._resolver.classes.inherited(value, "__call__"))
        if value.kind == PASSING:
            return frozenset([value._replace(kind=INSTANCE)])
        if value.kind == LITERAL_VALUE:
            return self._resolver.containers.called(value)
        if value.kind == FILE:
            return self.called(self._whole(value))
        if value == LACKING_VALUE:
            return frozenset([value])
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return UNRESOLVED_VALUES
        scope = file.scope(value.scope)
        if scope.kind == CLASS:
            return frozenset([Value(INSTANCE, value.path, value.scope)])
        if scope.kind in (MODULE, NAMESPACE):
            return UNRESOLVED_VALUES
        with self._resolver.entered(("returns", value)) as entered:
            return self._returned(file, value, scope) if entered else NOTHING

    def result(self, place: ScopeRef, function: Expression, functions: Values) -> Values:
        """Return what a call gives; for a method that gives its own instance, the receiver."""
        owner = _member(function)[0]
        is_own = bool(owner) and owner != "super"
        chained = frozenset(v for v in functions if is_own and self._gives_itself(v))
        if not chained:
            return self.called(functions)
        return self.called(functions - chained) | self._resolver.evaluate(place, owner)

    def _gives_itself(self, value: Value) -> bool:
        """Whether a method gives the instance that it is called on."""
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None or not file.rules.objects:
            return False
        given = [file.scope(value.scope).returns] if file.scope(value.scope).returns else []
        given = given or file.results.get(value.scope, [])
        return bool(given) and all(isinstance(e, str) and e in file.rules.instance for e in given)

    def decorated(self, place: ScopeRef, scope: Scope, values: Values) -> Values:
        """Return what the decorators of a definition make of it."""
        for decorator in reversed(scope.decorators):
            made = self.called(self._resolver.evaluate(place, decorator))
            values = frozenset(v for v in made if v.kind == DEFINITION) or values
        return values

    def _whole(self, value: Value) -> Values:
        file = self._resolver.tables.file(value.path)
        return (self._resolver.imports.whole(file) if file else None) or UNRESOLVED_VALUES

    def _returned(self, file: FileSymbols, value: Value, scope: Scope) -> Values:
        if scope.returns and not file.rules.explicit_self:
            declared = self._typed(file, value.scope, scope.returns)
            is_known = any(each.kind in (INSTANCE, LITERAL_VALUE) for each in declared)
            if is_known or file.rules.declares:
                return declared
        found = [
            self._resolver.evaluate(ScopeRef(value.path, value.scope), each)
            for each in file.results.get(value.scope, ())
        ]
        if scope.returns:
            found.append(self._typed(file, value.scope, scope.returns))
        return union(found) if found else external(f"{BUILTINS}.None")

    def _typed(self, file: FileSymbols, number: int, written: Expression) -> Values:
        """Return an instance of a type that the head of a function names."""
        scope = file.scope(number)
        # The names of its class are known in a function's head.
        is_inside = file.rules.twins and scope.owner and not _is_parameter(scope, written)
        outer = ScopeRef(file.path, number if is_inside else scope.parent)
        classes = self._resolver.evaluate(outer, written)
        if all(value.kind == EXTERNAL for value in classes) and isinstance(written, str):
            own = file.bindings.get((number, written), ())  # a parameter of the type
            if own:
                classes = union(self._resolver.binding(file.path, each) for each in own)
        return self._resolver.instances(classes, OPEN)

    def parameter(self, file: FileSymbols, number: int, position: int) -> Values:
        """Return what a parameter of a function may be: its receiver, its type, its arguments."""
        scope = file.scope(number)
        if file.rules.explicit_self and position == 0 and scope.parent >= 0:
            receiver = file.receiver(number)
            if receiver is not None and receiver.scope == scope.parent:
                if file.takes_class(number):
                    return frozenset([Value(DEFINITION, file.path, scope.parent)])
                return frozenset([Value(INSTANCE, file.path, scope.parent, OPEN)])
        parameter = scope.parameters[position]
        found = [UNRESOLVED_VALUES]
        if parameter.type:
            return self._typed(file, number, parameter.type)
        if declared := self._declared_above(file, number, parameter.name):
            return declared
        if file.rules.objects:
            passed = self._resolver.objects.passed(file, number, position)
            if passed is not None:
                return passed
        if parameter.default:
            found.append(
                self._resolver.evaluate(ScopeRef(file.path, scope.parent), parameter.default)
            )
        if self._resolver.callers_deep < MAX_CALLERS_DEEP and not parameter.name.startswith("*"):
            with self._resolver.entered(("parameter", file.path, number, position)) as entered:
                if entered:
                    self._resolver.callers_deep += 1
                    found += self._arguments(file, number, position)
                    self._resolver.callers_deep -= 1
        return union(found)

    def _declared_above(self, file: FileSymbols, number: int, name: str) -> Values:
        """Return the type of a parameter that the method which this one overrides declares."""
        scope = file.scope(number)
        if not file.rules.explicit_self or file.scope(scope.parent).kind != CLASS:
            return NOTHING
        classes = self._resolver.classes
        for place in classes.ancestors(ScopeRef(file.path, scope.parent))[1:]:
            for value in classes.own(place, scope.name):
                home = self._resolver.tables.file(value.path)
                for each in home.scope(value.scope).parameters if home else ():
                    if home and each.name == name and each.type:
                        return self._typed(home, value.scope, each.type)
        return NOTHING

    def _arguments(self, file: FileSymbols, number: int, position: int) -> list[Values]:
        """Return what callers pass for a parameter."""
        scope = file.scope(number)
        target = Value(DEFINITION, file.path, number)
        name, _ = file.called_name(number)
        in_class = file.scope(scope.parent).kind == CLASS
        takes_self = file.rules.explicit_self and in_class and file.receiver(number) is not None
        shift = 1 if takes_self else 0
        found: list[Values] = []
        sites = (
            (other, call)
            for other in self._resolver.tables.few_callers(name)
            for call in other.calls_of(name)
        )
        for other, call in islice(sites, MAX_SITES):
            argument = _argument(call, position - shift, scope.parameters[position].name)
            place = ScopeRef(other.path, call.scope)
            if self._resolver.exhausted:
                break
            if argument and target in self.targets(place, call):
                found.append(self._resolver.evaluate(place, argument))
        return found

    def targets(self, place: ScopeRef, call: Call) -> Values:
        """Return the functions that a call runs."""
        file = self._resolver.tables.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        if file.rules.declares:
            return self._resolver.methods.targets(place, call)
        values = self._resolver.evaluate(place, call.function)
        if isinstance(call.function, list) and call.function[0] == NEW and file.rules.one_overload:
            values = frozenset(
                value for value in values if self._resolver.function_of(value) is None
            )
        by_keyword = isinstance(call.function, str) and call.function in file.rules.instance
        found = union(
            self._parent_method(file, place, value, by_keyword=by_keyword)
            if value.kind == PARENT or (by_keyword and value.kind == INSTANCE)
            else self._run(value)
            for value in values
        )
        if file.rules.objects:
            return self._without_types(found)
        if file.rules.twins and file.rules.overloads:
            return self._resolver.overloads.closest(place, call, found)
        return self.overloads.fitting(place, call, found) if file.rules.overloads else found

    def _without_types(self, values: Values) -> Values:
        """Leave out interfaces where something of their name has a value."""
        if len(values) < 2:
            return values
        return frozenset(v for v in values if not self._resolver.classes.is_type(v)) or values

    def overriding(self, place: ScopeRef, call: Call) -> Values:
        """Return the definitions of subclasses that a call may run, by what its receiver is."""
        file, function = self._resolver.tables.file(place.path), call.function
        if file is not None and file.rules.declares:
            return self._resolver.methods.replacing(place, function, self.targets(place, call))
        owner, name = _member(function)
        found = [self._below(place, owner, name)] if owner else [*self._held(place, function)]
        return union([*found, self._below(place, function, "__call__")])

    def _held(self, place: ScopeRef, function: Expression) -> Iterator[Values]:
        """Yield the same for the methods that a local name holds."""
        file = self._resolver.tables.file(place.path)
        if file is None or not isinstance(function, str):
            return
        for binding in file.bindings.get((place.scope, function), ()):
            owner, name = _member(binding.value)
            if owner and binding.how == ASSIGNED:
                yield self._below(place, owner, name)

    def _below(self, place: ScopeRef, owner: Expression, name: str) -> Values:
        return union(
            self._resolver.classes.below(value, name)
            for value in self._resolver.evaluate(place, owner)
            if value.kind == INSTANCE and value.name == OPEN
        )

    def _parent_method(
        self, file: FileSymbols, place: ScopeRef, value: Value, *, by_keyword: bool
    ) -> Values:
        """Return what a call of the parent itself runs: the method that the caller overrides."""
        receiver = file.receiver(place.scope)
        name = CONSTRUCTOR
        if receiver is not None and not by_keyword and not file.is_constructor(receiver.method):
            name = file.scope(receiver.method).name
        return self._resolver.classes.inherited(value, name)

    def _run(self, value: Value) -> Values:
        """Return the functions that calling a value runs."""
        if value.kind == INSTANCE:
            return self._resolver.classes.inherited(value, "__call__")
        if value.kind == FILE:
            return union(self._run(each) for each in self._whole(value))
        if value.kind != DEFINITION:
            return frozenset([value])
        file = self._resolver.tables.file(value.path)
        if file is None or file.scope(value.scope).kind != CLASS:
            return frozenset([value])
        if file.rules.twins:  # constructors are not inherited
            place = ScopeRef(value.path, value.scope)
            return self._resolver.classes.own(place, CONSTRUCTOR) or frozenset([value])
        names = (CONSTRUCTOR, ALLOCATOR) if file.rules.explicit_self else (CONSTRUCTOR,)
        found = union(self._resolver.classes.inherited(value, name) for name in names)
        return frozenset(v for v in found if v.kind == DEFINITION) or frozenset([value])


def _argument(call: Call, position: int, name: str) -> Expression | None:
    """Return what a call passes for a parameter, by its name or its position."""
    for each in call.arguments:
        if _is_by_name(each) and each[1] == name:
            value: Expression = each[2]
            return value
    if 0 <= position < len(call.arguments) and not _is_by_name(call.arguments[position]):
        argument: Expression = call.arguments[position]
        return argument
    return None


def _is_parameter(scope: Scope, written: Expression) -> bool:
    """Whether a type begins with the name of a parameter, which does not hide it in the head."""
    first = written.partition(".")[0] if isinstance(written, str) else ""
    return any(each.name == first for each in scope.parameters)


def _member(function: Expression) -> tuple[Expression, str]:
    """Return the receiver of what is called, and the name of the member; empty without one."""
    if isinstance(function, str):
        owner, _, name = function.rpartition(".")
        return owner, name
    return (function[1], str(function[2])) if function[0] == ATTRIBUTE else (UNKNOWN, "")


def _is_by_name(argument: Any) -> bool:
    return isinstance(argument, list) and bool(argument) and argument[0] == BY_NAME
