"""The methods that calls of Java run, by the declared types of receivers and arguments."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ctx_indexer.languages.jvm.definitions import methods_of
from ctx_indexer.languages.jvm.library import OF_OBJECTS
from ctx_indexer.languages.jvm.overloads import Overloads
from ctx_indexer.languages.jvm.static_types import NULL_VALUE, given_by
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    LITERAL_VALUE,
    NOTHING,
    OPEN,
    PARENT,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    CLASS,
    EVERY_NAME,
    FILE_SCOPE,
    FIXED,
    NEW,
    Call,
    Expression,
    Import,
    called_member,
)

MAX_SUBCLASSES = 200  # subclasses of one class in which a replacing method is looked for
_TYPED = frozenset([DEFINITION, INSTANCE, PARENT])


class Methods:
    """Looks methods up by the types of their receivers."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._overloads = Overloads(machine)
        self._types = self._overloads.types

    def targets(self, place: ScopeRef, call: Call) -> Values:
        """Return the methods or constructors that a call runs: `add(1)` → `add(int)`."""
        return self._chosen(place, call.function, call.arguments)

    def given(self, place: ScopeRef, function: Expression, arguments: Sequence[Any]) -> Values:
        """Return the results of a call: `cart.size()` → an `int`."""
        return union(self._given(value) for value in self._chosen(place, function, arguments))

    def declared(self, place: ScopeRef, type_: Expression, value: Expression) -> Values:
        """Return an instance of a declared type, which may be of a subclass.

        `Cart cart = new Cart()` → of no subclass: the instance is made there.
        """
        classes = self._machine.evaluate(place, type_)
        if isinstance(value, list) and isinstance(value[1], list) and value[1][0] == NEW:
            made = self._machine.instances(classes)
            if made == self._machine.evaluate(place, value):
                return made
        return self._machine.instances(classes, OPEN)

    def operated(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return the result of an operator: `"a" + 1` → a `String`."""
        left, right = (self._machine.evaluate(place, each) for each in expression[2:])
        return self._types.operation(left, right)

    def _given(self, value: Value) -> Values:
        if value.kind == EXTERNAL:
            return given_by(value.name)
        found = self._machine.called(frozenset([value]))
        if value.kind == LITERAL_VALUE and found == UNRESOLVED_VALUES:
            return given_by(f"{json.loads(value.expression)[1]}.{value.name}")
        return found

    def _chosen(self, place: ScopeRef, function: Expression, arguments: Sequence[Any]) -> Values:
        candidates = self._candidates(place, function)
        return self._overloads.chosen(place, arguments, candidates)

    def _candidates(self, place: ScopeRef, function: Expression) -> Values:
        """Return the methods that have the called name, before parameters are compared."""
        if isinstance(function, list) and function[0] == NEW:
            return self._constructors(self._machine.evaluate(place, function))
        file = self._machine.file(place.path)
        if file is None:
            return UNRESOLVED_VALUES
        owner, name = called_member(function)
        if not owner and name in file.words.instance:
            return self._constructors(self._machine.classes.around(place))
        if not owner and name in file.words.parent:
            return self._parent_constructors(place)
        if not name:
            return UNRESOLVED_VALUES
        if isinstance(function, str) and not owner:
            return self._visible(file, place, name)
        values = self._machine.evaluate(place, owner)
        known = frozenset(value for value in values if value.name != NULL_VALUE)
        return union(self._members(value, name) for value in known or values)

    # Constructors

    def _constructors(self, values: Values) -> Values:
        return union(self._constructed(value) for value in values)

    def _constructed(self, value: Value) -> Values:
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return frozenset([value])
        numbers = methods_of(file).get((value.scope, CONSTRUCTOR), ())
        return frozenset(Value(DEFINITION, value.path, n) for n in numbers) or frozenset([value])

    def _parent_constructors(self, place: ScopeRef) -> Values:
        found: list[Values] = []
        for value in self._machine.classes.around(place):
            parents = self._machine.classes.parents(ScopeRef(value.path, value.scope))
            found += [self._constructed(Value(DEFINITION, *each)) for each in parents[:1]]
        return union(found) or external(f"{BUILTINS}.Object")

    # Members

    def _members(self, value: Value, name: str) -> Values:
        """Return the methods of a name that a receiver has."""
        if value.kind not in _TYPED:
            return self._machine.attribute(frozenset([value]), name)
        place = ScopeRef(value.path, value.scope)
        file = self._machine.file(value.path)
        if file is None or file.scope(value.scope).kind != CLASS:
            return UNRESOLVED_VALUES
        ancestors = self._machine.classes.ancestors(place)
        found = self._inherited(place, name, is_parent=value.kind == PARENT)
        if found:
            return found
        is_outside = self._machine.classes.is_outside(ancestors)
        if is_outside or name in OF_OBJECTS:
            return external(f"{BUILTINS}.Object.{name}")
        return UNRESOLVED_VALUES

    def _inherited(self, place: ScopeRef, name: str, *, is_parent: bool = False) -> Values:
        """Return the methods of a class and its ancestors that no nearer class replaces."""
        key = ("methods", place, name, is_parent)
        return self._machine.remember(key, lambda: self._collected(place, name, is_parent))

    def _collected(self, place: ScopeRef, name: str, is_parent: bool) -> Values:
        found: list[Value] = []
        ancestors = self._machine.classes.ancestors(place)
        for each in ancestors[1:] if is_parent else ancestors:
            file = self._machine.file(each.path)
            numbers = methods_of(file).get((each.scope, name), ()) if file else ()
            methods = [Value(DEFINITION, each.path, number) for number in numbers]
            found += [
                method
                for method in methods
                if not any(self._overloads.is_replaced(known, method) for known in found)
            ]
        return frozenset(found)

    # Names without a receiver

    def _visible(self, file: FileSymbols, place: ScopeRef, name: str) -> Values:
        """Return the methods of a name in the innermost class around that has one, or imported."""
        number = place.scope
        while number > 0:
            scope = file.scope(number)
            if scope.kind == CLASS:
                found = self._inherited(ScopeRef(file.path, number), name)
                if found:
                    return found
            number = scope.parent
        found = union(self._imported(file, name))
        return found or external(f"{BUILTINS}.{name}")

    def _imported(self, file: FileSymbols, name: str) -> Iterator[Values]:
        for each in file.imports.get((FILE_SCOPE, name), ()):
            yield self._of_import(file, each, name)
        for each in file.star_imports:
            yield self._of_import(file, each, name)

    def _of_import(self, file: FileSymbols, each: Import, name: str) -> Values:
        """Return the methods that a static import brings: `import static shop.Cart.add`."""
        outer, _, last = each.module.rpartition(".")
        if not last[:1].isupper():
            return NOTHING
        classes = self._machine.imported(file.path, each._replace(module=outer, name=last))
        named = each.name if each.name != EVERY_NAME else name
        places = [ScopeRef(v.path, v.scope) for v in classes if v.kind == DEFINITION]
        found = union(self._inherited(place, named) for place in places)
        if not found and each.name != EVERY_NAME:
            return external(f"{each.module}.{name}")
        return found

    # Methods that replace others

    def replacing(self, place: ScopeRef, function: Expression, methods: Values) -> Values:
        """Return the methods of subclasses that a call may run instead, by its receiver's type."""
        file = self._machine.file(place.path)
        open_methods = [value for value in methods if self._is_open(value)]
        if file is None or not open_methods:
            return NOTHING
        owner, name = called_member(function)
        if not name:
            return NOTHING
        if owner:
            every = self._machine.evaluate(place, owner)
            receivers = [v for v in every if v.kind == INSTANCE and v.name == OPEN]
        else:
            receivers = self._own_receivers(file, place, open_methods)
        return frozenset(
            other
            for receiver in receivers
            for other in self._below(ScopeRef(receiver.path, receiver.scope), name)
            if any(self._overloads.is_replaced(other, each) for each in open_methods)
            and other not in methods
        )

    def replaces(self, method: Value, other: Value) -> bool:
        """Whether a method of a subclass replaces another of its name."""
        return self._is_open(other) and self._overloads.is_replaced(method, other)

    def _own_receivers(
        self, file: FileSymbols, place: ScopeRef, methods: Sequence[Value]
    ) -> list[Value]:
        """Return an instance of the innermost class around a place that has one of the methods."""
        homes = {
            ScopeRef(each.path, home.scope(each.scope).parent)
            for each in methods
            if (home := self._machine.file(each.path))
        }
        number = place.scope
        while number > 0:
            own = ScopeRef(file.path, number)
            if file.scope(number).kind == CLASS and homes.intersection(
                self._machine.classes.ancestors(own)
            ):
                return [Value(INSTANCE, *own)]
            number = file.scope(number).parent
        return []

    def _is_open(self, value: Value) -> bool:
        """Whether a subclass may replace a method."""
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        if file is None or file.is_constructor(value.scope):
            return False
        scope = file.scope(value.scope)
        return scope.kind != CLASS and FIXED not in scope.marks

    def _below(self, place: ScopeRef, name: str) -> Values:
        """Return the methods of a name in the classes below one."""
        key = ("methods below", place, name)
        return self._machine.remember(key, lambda: frozenset(self._find_below(place, name)))

    def _find_below(self, place: ScopeRef, name: str) -> Iterator[Value]:
        for each in self._subclasses(place):
            file = self._machine.file(each.path)
            for number in methods_of(file).get((each.scope, name), ()) if file else ():
                yield Value(DEFINITION, each.path, number)

    def _subclasses(self, place: ScopeRef) -> list[ScopeRef]:
        key = ("subclasses", place)
        return self._machine.remember(key, lambda: self._find_subclasses(place))

    def _find_subclasses(self, place: ScopeRef) -> list[ScopeRef]:
        found: dict[ScopeRef, None] = {}
        pending = [place]
        while pending and len(found) < MAX_SUBCLASSES:
            current = pending.pop()
            home = self._machine.file(current.path)
            name = home.scope(current.scope).name if home else ""
            for file in self._machine.few_callers(name) if name else ():
                for number in file.inheriting(name):
                    each = ScopeRef(file.path, number)
                    if each not in found and current in self._machine.classes.bases(each):
                        found[each] = None
                        pending.append(each)
        return list(found)
