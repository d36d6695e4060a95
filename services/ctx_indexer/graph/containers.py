"""Items and elements of lists, tuples and dictionaries that are written out."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctx_indexer.graph.go.variables import Variables
from ctx_indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    INSTANCE,
    LITERAL_VALUE,
    OPEN,
    TYPE,
    UNKNOWN_VALUE,
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

# Methods of the containers of standard libraries, by what they give.
GIVING_ITEMS = frozenset(
    "get at first last pop peek poll front back top next find remove element getOrDefault shift"
    " getFirst getLast First Last Single FirstOrDefault firstOrNull lastOrNull first_mut get_mut"
    " removeFirst removeLast".split()
)
GIVING_ALL = frozenset(
    "iter iter_mut into_iter values filter slice concat reversed rev stream sorted toList ToList"
    " Where OrderBy collect reverse sort take skip Values copy clone".split()
)
LENGTH = "length"  # of an array

SUBSCRIPT = "operator[]"  # the method of a class that gives an item, in C++

MAX_PUT = 50  # what code puts into one container that is looked at; of more, it may hold anything

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver


class Containers:
    """Resolves items of containers."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self._variables = Variables(resolver)

    def item(self, place: ScopeRef, owner: Expression, key: str) -> Values:
        """Return the item of a container by its key; all items where the key is not written out."""
        if isinstance(owner, list) and owner[0] == ITERATED:
            pairs = self._resolver.library.paired(place, owner[1], key)
            if pairs is not None:
                return pairs
        found = [*self._assigned_items(place, owner, key), *self._added(place, owner)]
        for value in map(self._variables.underlying, self._resolver.evaluate(place, owner)):
            if value.kind == DEFINITION and self._is_class(value):
                found.append(frozenset([value]))  # a class with arguments for its types
                continue
            if value.kind == INSTANCE and self._is_array(value):
                found.append(frozenset([value]))
                continue
            if value.kind != LITERAL_VALUE:
                found.append(
                    self._resolver.calls.called(
                        self._resolver.attribute(frozenset([value]), self._getter(value))
                    )
                )
                continue
            inner, literal = ScopeRef(value.path, value.scope), json.loads(value.expression)
            if literal[0] == GENERIC:
                found.append(self._typed_item(inner, literal, key))
                continue
            parts = literal[1:] if literal[0] == SEQUENCE else literal[2::2]
            keys = range(len(parts)) if literal[0] == SEQUENCE else literal[1::2]
            matching = [part for each, part in zip(keys, parts, strict=False) if str(each) == key]
            for part in matching if key else parts:
                found.append(self._resolver.evaluate(inner, part))
        return union(found) if found else UNRESOLVED_VALUES

    def written(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return a container that is written out, or that has a type of the standard library."""
        operator = expression[0]
        if operator == GENERIC and expression[1] == TYPE:
            return self._type_of(place, expression)
        if operator == GENERIC and expression[1][:1].isalpha():
            values = self._resolver.evaluate(place, expression[1])
            if _is_defined(values):
                return values
        if operator in (SEQUENCE, MAPPING, GENERIC):
            return frozenset([Value(LITERAL_VALUE, *place, expression=json.dumps(expression))])
        return self._variables.written(place, expression)

    def declared(self, place: ScopeRef, type_: Expression, value: Expression) -> Values:
        """Return what is assigned where that is known, else an instance of the declared type."""
        file = self._resolver.tables.file(place.path)
        if file is not None and file.rules.declares:
            return self._resolver.methods.declared(place, type_, value)
        if named := self._resolver.declarations.typed(place, type_):
            return named
        is_open = file is not None and file.rules.objects
        assigned = self._resolver.evaluate(place, value)
        classes = self._resolver.evaluate(place, type_)
        declared = self._resolver.instances(classes, OPEN if is_open else "")
        if is_open and _is_defined(declared, INSTANCE):
            same = {each[:3] for each in assigned} <= {each[:3] for each in declared}
            return assigned if same else declared
        if any(each.kind in (DEFINITION, INSTANCE) for each in assigned):
            return assigned
        is_known = any(each.kind in (INSTANCE, LITERAL_VALUE) for each in declared)
        return declared if is_known else assigned | declared

    def _type_of(self, place: ScopeRef, expression: Sequence[Any]) -> Values:
        """Return the type that classes are instances of, as an annotation names it."""
        values = union(self._resolver.evaluate(place, each) for each in expression[2:])
        found = frozenset(
            v._replace(kind=TYPE) if v.kind == DEFINITION else v
            for v in values
            if v.kind in (DEFINITION, INSTANCE, LITERAL_VALUE)
        )
        return found or UNRESOLVED_VALUES

    def _getter(self, value: Value) -> str:
        """Return the name of the method that an item of a value runs."""
        file = self._resolver.tables.file(value.path)
        return SUBSCRIPT if file is not None and file.rules.twins else "__getitem__"

    def _is_array(self, value: Value) -> bool:
        """Whether an instance may be one of several: an array or a pointer, in C and C++."""
        if self._getter(value) != SUBSCRIPT:
            return False
        return not _is_defined(self._resolver.classes.inherited(value, SUBSCRIPT))

    def _is_class(self, value: Value) -> bool:
        file = self._resolver.tables.file(value.path)
        return file is not None and file.scope(value.scope).kind == CLASS

    def _assigned_items(self, place: ScopeRef, owner: Expression, key: str) -> list[Values]:
        """Return what the file assigns to an item of a container of that name."""
        file = self._resolver.tables.file(place.path)
        if file is None or not isinstance(owner, str):
            return []
        items = file.items.get(owner, ())
        put = [each for each in items if not key or each.target[2] in ("", key)]
        if len(put) > MAX_PUT:
            return [UNRESOLVED_VALUES]
        return [
            self._resolver.evaluate(ScopeRef(place.path, each.scope), each.value) for each in put
        ]

    def _added(self, place: ScopeRef, owner: Expression) -> list[Values]:
        """Return what calls of the file add to a container that is known by a name at a place.

        Where one of them adds something unknown, it may hold anything.
        """
        file = self._resolver.tables.file(place.path)
        if file is None or not isinstance(owner, str):
            return []
        added = file.added.get(owner, ())
        if len(added) > MAX_PUT:
            return [UNRESOLVED_VALUES]
        found = [
            self._resolver.evaluate(ScopeRef(place.path, scope), each)
            for scope, each in added
            if file.same_owner(place.scope, scope, owner)
        ]
        return [UNRESOLVED_VALUES] if any(UNKNOWN_VALUE in each for each in found) else found

    def looped(self, place: ScopeRef, expression: Expression) -> Values:
        """Return what a loop over an expression gives."""
        found = self._elements(self._resolver.evaluate(place, expression))
        found += self._added(place, expression)
        return union(found) if found else UNRESOLVED_VALUES

    def elements(self, values: Values) -> Values:
        """Return what a loop over values gives."""
        found = self._elements(values)
        return union(found) if found else UNRESOLVED_VALUES

    def _elements(self, values: Values) -> list[Values]:
        found = []
        for value in map(self._variables.underlying, values):
            if value.kind == LITERAL_VALUE:
                literal = json.loads(value.expression)
                place = ScopeRef(value.path, value.scope)
                if literal[0] == GENERIC:
                    found.append(self._looped_item(place, literal))
                elif literal[0] == SEQUENCE:
                    found += [self._resolver.evaluate(place, each) for each in literal[1:]]
            elif value.kind == INSTANCE:
                found.append(self._iterated(value))
            else:
                found.append(frozenset([value]))
        return found

    def _iterated(self, value: Value) -> Values:
        """Return what a loop over an instance gives; one that a generator gives is an element."""
        classes, called = self._resolver.classes, self._resolver.calls.called
        following = classes.inherited(value, "__next__")
        if _is_defined(following):
            return called(following)
        iterators = classes.inherited(value, "__iter__")
        if not _is_defined(iterators):
            own = value.name != OPEN and not classes.has_foreign_base(value)
            return frozenset([value]) if own else UNRESOLVED_VALUES
        given = called(iterators)
        held = frozenset(each for each in given if each.kind == LITERAL_VALUE)
        if held:  # an iterator over a container
            return union([self.elements(held), given - held])
        looped = called(self._resolver.attribute(given, "__next__"))
        return looped if _is_defined(looped, INSTANCE) else given

    def _looped_item(self, place: ScopeRef, literal: Sequence[Any]) -> Values:
        """Return what a loop over a container of a declared type gives: of a mapping its keys."""
        is_mapping = len(literal) == 4 and literal[1].endswith(("dict", "Dict", "Mapping"))
        return self._typed_item(place, literal[:3] if is_mapping else literal, "")

    def _typed_item(self, place: ScopeRef, literal: Sequence[Any], key: str) -> Values:
        """Return an instance of what a container of a declared type holds."""
        arguments = literal[2:]
        if not arguments:
            return UNRESOLVED_VALUES
        is_tuple = literal[1] == TUPLE and key.isdigit() and int(key) < len(arguments)
        element = arguments[int(key)] if is_tuple else arguments[-1]
        return self._resolver.instances(self._resolver.evaluate(place, element), OPEN)

    def member(self, value: Value, name: str) -> Values:
        """Return a member of a container: an item by its key, or a method of it."""
        literal = json.loads(value.expression)
        if literal[0] == MAPPING and name in literal[1::2]:
            place = ScopeRef(value.path, value.scope)
            pairs = zip(literal[1::2], literal[2::2], strict=False)
            return union(self._resolver.evaluate(place, part) for key, part in pairs if key == name)
        if literal[0] == GENERIC:
            if literal[1] == ARRAY and name == LENGTH:
                return external(f"{BUILTINS}.int")
            return frozenset([value._replace(name=name)])
        file = self._resolver.tables.file(value.path)
        is_open = literal[0] == MAPPING and file is not None and file.rules.objects
        return UNRESOLVED_VALUES if is_open else external(f"{BUILTINS}.{name}")

    def called(self, value: Value) -> Values:
        """Return what a method of a container of a declared type gives."""
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
