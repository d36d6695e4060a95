"""Items and elements of lists, tuples and dictionaries that are written out."""

import json
from collections.abc import Sequence
from typing import Any

from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    OPEN,
    TYPE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    ARRAY,
    CLASS,
    GENERIC,
    ITERATED,
    MAPPING,
    SEQUENCE,
    TUPLE,
    Expression,
)

# Methods of the containers of standard libraries: some give an item, others all items.
GIVING_ITEMS = frozenset(
    "get at first last pop peek poll front back top next find remove element getOrDefault shift"
    " getFirst getLast First Last Single FirstOrDefault firstOrNull lastOrNull first_mut get_mut"
    " removeFirst removeLast".split()
)
GIVING_ALL = frozenset(
    "iter iter_mut into_iter values filter slice concat reversed rev stream sorted toList ToList"
    " Where OrderBy collect reverse sort take skip Values copy clone".split()
)
LENGTH = "length"  # the member of an array that is a number

MAX_PUT = 50  # assignments to items of one container; with more of them it may hold anything


class Containers:
    """Resolves items, elements and members of containers."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def item(self, place: ScopeRef, owner: Expression, key: str) -> Values:
        """Return the item of a container by its key: `[a, b][0]` → `a`, `[a, b][i]` → `a`, `b`."""
        if isinstance(owner, list) and owner[0] == ITERATED:
            members = semantics_of(self._machine.file(place.path)).members
            pairs = members.paired(self._machine, place, owner[1], key)
            if pairs is not None:
                return pairs
        found = [*self._assigned_items(place, owner, key), *self._added(place, owner)]
        for value in map(self._underlying, self._machine.evaluate(place, owner)):
            if value.kind == DEFINITION and self._is_class(value):
                found.append(frozenset([value]))  # a class with arguments for its types
                continue
            if value.kind != LITERAL_VALUE:
                members = semantics_of(self._machine.file(value.path)).members
                found.append(members.item(self._machine, value))
                continue
            inner, literal = ScopeRef(value.path, value.scope), json.loads(value.expression)
            if literal[0] == GENERIC:
                found.append(self._typed_item(inner, literal, key))
                continue
            parts = literal[1:] if literal[0] == SEQUENCE else literal[2::2]
            keys = range(len(parts)) if literal[0] == SEQUENCE else literal[1::2]
            matching = [part for each, part in zip(keys, parts, strict=False) if str(each) == key]
            for part in matching if key else parts:
                found.append(self._machine.evaluate(inner, part))
        return union(found) if found else UNRESOLVED_VALUES

    def written(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return a container as a value: `[a, b]`, `{a: 1}`, or of a declared type: `list[Cart]`.

        A type that the repository defines is the value itself: `Box` of `Box[Cart]`.
        """
        operator = expression[0]
        if operator == GENERIC and expression[1] == TYPE:
            return self._type_of(place, expression)
        if operator == GENERIC and expression[1][:1].isalpha():
            values = self._machine.evaluate(place, expression[1])
            if _is_defined(values):
                return values
        if operator in (SEQUENCE, MAPPING, GENERIC):
            return frozenset([Value(LITERAL_VALUE, *place, expression=json.dumps(expression))])
        return UNRESOLVED_VALUES

    def declared(self, place: ScopeRef, type_: Expression, value: Expression) -> Values:
        """Return the value of a variable with a declared type: `Shape s = new Square()`."""
        results = semantics_of(self._machine.file(place.path)).results
        return results.declared(self._machine, place, type_, value)

    def _type_of(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return the type that an annotation of a class names: `type[Cart]`; of a value, itself."""
        values = union(self._machine.evaluate(place, each) for each in expression[2:])
        found = frozenset(
            v._replace(kind=TYPE) if v.kind == DEFINITION else v
            for v in values
            if v.kind in (DEFINITION, INSTANCE, LITERAL_VALUE)
        )
        return found or UNRESOLVED_VALUES

    def _underlying(self, value: Value) -> Value:
        """Return the container that a named type is: `type Gears []Gear` → `[]Gear`; else value."""
        file = self._machine.file(value.path) if value.kind in (DEFINITION, INSTANCE) else None
        if file is None:
            return value
        return semantics_of(file).members.underlying(self._machine, file, value)

    def _is_class(self, value: Value) -> bool:
        file = self._machine.file(value.path)
        return file is not None and file.scope(value.scope).kind == CLASS

    def _assigned_items(self, place: ScopeRef, owner: Expression, key: str) -> list[Values]:
        """Return the values that a file assigns to an item: `gears["a"] = Gear()` → a `Gear`."""
        file = self._machine.file(place.path)
        if file is None or not isinstance(owner, str):
            return []
        items = file.items.get(owner, ())
        put = [each for each in items if not key or each.target[2] in ("", key)]
        if len(put) > MAX_PUT:
            return [UNRESOLVED_VALUES]
        return [
            self._machine.evaluate(ScopeRef(place.path, each.scope), each.value) for each in put
        ]

    def _added(self, place: ScopeRef, owner: Expression) -> list[Values]:
        """Return the values that calls add to a container of a name: `xs.append(x)` → `x`."""
        file = self._machine.file(place.path)
        if file is None or not isinstance(owner, str):
            return []
        return semantics_of(file).members.added(self._machine, file, place, owner)

    def looped(self, place: ScopeRef, expression: Expression) -> Values:
        """Return the elements in a loop over an expression, and all that calls add to it."""
        found = self._elements(self._machine.evaluate(place, expression))
        found += self._added(place, expression)
        return union(found) if found else UNRESOLVED_VALUES

    def elements(self, values: Values) -> Values:
        """Return the elements that a loop over values gives: `[a, b]` → `a`, `b`."""
        found = self._elements(values)
        return union(found) if found else UNRESOLVED_VALUES

    def _elements(self, values: Values) -> list[Values]:
        found = []
        for value in map(self._underlying, values):
            if value.kind == LITERAL_VALUE:
                literal = json.loads(value.expression)
                place = ScopeRef(value.path, value.scope)
                if literal[0] == GENERIC:
                    found.append(self._looped_item(place, literal))
                elif literal[0] == SEQUENCE:
                    found += [self._machine.evaluate(place, each) for each in literal[1:]]
            elif value.kind == INSTANCE:
                found.append(self._iterated(value))
            else:
                found.append(frozenset([value]))
        return found

    def _iterated(self, value: Value) -> Values:
        """Return the elements of an instance: the results of its `__next__` or `__iter__`.

        An instance without either is an element itself: `yield cart` makes a call give a `Cart`.
        """
        classes, called = self._machine.classes, self._machine.called
        following = classes.inherited(value, "__next__")
        if _is_defined(following):
            return called(following)
        iterators = classes.inherited(value, "__iter__")
        if not _is_defined(iterators):
            own = value.name != OPEN and not classes.has_foreign_base(value)
            return frozenset([value]) if own else UNRESOLVED_VALUES
        given = called(iterators)
        held = frozenset(each for each in given if each.kind == LITERAL_VALUE)
        if held:  # `__iter__` gives an iterator over a container
            return union([self.elements(held), given - held])
        looped = called(self._machine.attribute(given, "__next__"))
        return looped if _is_defined(looped, INSTANCE) else given

    def _looped_item(self, place: ScopeRef, literal: Sequence[Any]) -> Values:
        """Return the elements of a container of a declared type: of `dict[str, Gear]` the keys."""
        is_mapping = len(literal) == 4 and literal[1].endswith(("dict", "Dict", "Mapping"))
        return self._typed_item(place, literal[:3] if is_mapping else literal, "")

    def _typed_item(self, place: ScopeRef, literal: Sequence[Any], key: str) -> Values:
        """Return an instance of the type that a container holds: `list[Gear]` → a `Gear`."""
        arguments = literal[2:]
        if not arguments:
            return UNRESOLVED_VALUES
        is_tuple = literal[1] == TUPLE and key.isdigit() and int(key) < len(arguments)
        element = arguments[int(key)] if is_tuple else arguments[-1]
        return self._machine.instances(self._machine.evaluate(place, element), OPEN)

    def member(self, value: Value, name: str) -> Values:
        """Return a member of a container: `a` of `{a: 1}` → 1; else a method of the library."""
        literal = json.loads(value.expression)
        if literal[0] == MAPPING and name in literal[1::2]:
            place = ScopeRef(value.path, value.scope)
            pairs = zip(literal[1::2], literal[2::2], strict=False)
            return union(self._machine.evaluate(place, part) for key, part in pairs if key == name)
        if literal[0] == GENERIC:
            if literal[1] == ARRAY and name == LENGTH:
                return external(f"{BUILTINS}.int")
            return frozenset([value._replace(name=name)])
        members = semantics_of(self._machine.file(value.path)).members
        return members.lacking(name, is_mapping=literal[0] == MAPPING)

    def called(self, value: Value) -> Values:
        """Return the result of a method of a typed container: `gears.pop()` → a `Gear`."""
        whole = frozenset([value._replace(name="")])
        if value.name in GIVING_ITEMS:
            return self.elements(whole)
        if value.name == "items":
            literal = json.loads(value.expression)
            pairs = json.dumps([GENERIC, "list", [GENERIC, TUPLE, *literal[2:]]])
            return frozenset([value._replace(name="", expression=pairs)])
        return whole if value.name in GIVING_ALL else UNRESOLVED_VALUES


def _is_defined(values: Values, kind: str = DEFINITION) -> bool:
    return any(value.kind == kind for value in values)
