"""Attributes of classes and their instances: own, inherited, and those of subclasses."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctx_indexer.graph.definitions import COMPANION
from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.rules import Names
from ctx_indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    LACKING_VALUE,
    NOTHING,
    PARENT,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    CLASS,
    DECLARATION,
    FUNCTION,
    IN_TYPE,
    LAMBDA,
    Binding,
    Expression,
    last_name,
)

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

MAX_ANCESTORS = 64
_KNOWN_BASES = frozenset([f"{BUILTINS}.object", f"{BUILTINS}.Object"])


class Classes:
    """Looks attributes up in classes."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self._parts: dict[ScopeRef, list[ScopeRef]] = {}

    def begin_round(self) -> None:
        """Forget blocks that were found before more tables were loaded."""
        self._parts = {}

    def inherited(self, value: Value, name: str) -> Values:
        """Return an attribute of a class or instance: its own, inherited, or of a subclass."""
        if name == "__class__" and value.kind == INSTANCE:
            return frozenset([Value(DEFINITION, value.path, value.scope)])
        ancestors = self.ancestors(ScopeRef(value.path, value.scope))
        for place in ancestors[1:] if value.kind == PARENT else ancestors:
            found = self._own_attribute(place, name, instance=value.kind != DEFINITION)
            if found is not None:
                return found
        if named := self._named(ancestors, name):
            return named
        if self._has_foreign_ancestor(ancestors):
            return UNRESOLVED_VALUES
        if self._is_static(value):
            return frozenset([LACKING_VALUE])
        below = [] if value.kind == PARENT else self._in_subclasses(value, name)
        return union(below) if below else UNRESOLVED_VALUES

    def _is_static(self, value: Value) -> bool:
        file = self._resolver.tables.file(value.path)
        return file is not None and file.rules.static

    def _named(self, places: Sequence[ScopeRef], name: str) -> Values:
        """Return the class or ancestor that a member is looked up in by its name: `x.Base::f()`."""
        for place in places:
            file = self._resolver.tables.file(place.path)
            scope = file.scope(place.scope) if file is not None and file.rules.twins else None
            if scope is not None and scope.kind == CLASS and scope.name == name:
                return frozenset([Value(DEFINITION, *place)])
        return NOTHING

    def implicit(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return a member of the class around a scope, which methods name without a receiver."""
        for value in self.classes_at(file, number):
            for place in self.ancestors(ScopeRef(value.path, value.scope)):
                found = self._own_attribute(place, name, instance=True)
                if found is not None:
                    return found
        return None

    def is_foreign(self, file: FileSymbols, number: int) -> bool:
        """Whether the class around a scope inherits from one outside of the repository."""
        return any(
            self._has_foreign_ancestor(self.ancestors(ScopeRef(value.path, value.scope)))
            for value in self.classes_at(file, number)
        )

    def around(self, place: ScopeRef) -> Values:
        """Return the classes whose code a scope is."""
        file = self._resolver.tables.file(place.path)
        number = place.scope
        while file is not None and number > 0:
            if classes := self.classes_at(file, number):
                return classes
            number = file.scope(number).parent
        return NOTHING

    def receivers(self, file: FileSymbols, number: int, name: str) -> list[Values]:
        """Return the instance that a function names as its receiver, where the name is that."""
        if not file.rules.static or file.scope(number).receiver != name:
            return []
        return [self._resolver.instances(self.around(ScopeRef(file.path, number)))]

    def classes_at(self, file: FileSymbols, number: int) -> Values:
        """Return the class that a scope is, or that it belongs to from outside."""
        scope = file.scope(number)
        if scope.kind == CLASS:
            return frozenset([Value(DEFINITION, file.path, number)])
        if not scope.owner or scope.receiver == IN_TYPE:
            return NOTHING
        values = self._resolver.evaluate(ScopeRef(file.path, scope.parent), scope.owner)
        return frozenset(value for value in values if value.kind == DEFINITION)

    def own(self, place: ScopeRef, name: str) -> Values:
        """Return the definitions of a member that a class itself has."""
        found = self._own_attribute(place, name, instance=False) or NOTHING
        return frozenset(value for value in found if value.kind == DEFINITION)

    def _own_attribute(self, place: ScopeRef, name: str, *, instance: bool) -> Values | None:
        found: list[Values] = []
        typed = False
        for part in self.parts(place):
            file = self._resolver.tables.file(part.path)
            if file is None or (part == place and self._is_plain_function(file, part.scope)):
                continue
            for binding in _of_kind(file, file.bindings.get((part.scope, name), ()), instance):
                values = self._resolver.binding(part.path, binding)
                found.append(self._property(values, instance))
                typed = typed or any(value.kind == INSTANCE for value in values)
            if (typed and not file.rules.explicit_self) or (found and file.rules.declares):
                continue  # the declared type says more than what is assigned
            for binding in file.attributes.get((part.scope, name), ()):
                found.append(self._resolver.binding(part.path, binding))
        found += self._owned(place, name)
        found += self._resolver.objects.of_definition(place, name)
        if not found and name != COMPANION:
            return self._of_companion(place, name)
        return self._defined_once(union(found)) if found else None

    def _is_plain_function(self, file: FileSymbols, number: int) -> bool:
        """Whether a scope is a function whose names are no members."""
        return file.scope(number).kind == FUNCTION and not file.rules.explicit_self

    def _of_companion(self, place: ScopeRef, name: str) -> Values | None:
        file = self._resolver.tables.file(place.path)
        for binding in file.bindings.get((place.scope, COMPANION), ()) if file else ():
            number = binding.value[1]
            if isinstance(number, int):
                return self._own_attribute(ScopeRef(place.path, number), name, instance=True)
        return None

    def _owned(self, place: ScopeRef, name: str) -> list[Values]:
        """Return the functions that stand outside of their class."""
        file = self._resolver.tables.file(place.path)
        if file is None or not file.rules.open_classes:
            return []
        target = Value(DEFINITION, *place)
        class_name = file.scope(place.scope).name
        found = []
        for other in self._homes(file, class_name):
            for number in other.owned.get((class_name, name), ()):
                scope = other.scope(number)
                owner = self._resolver.evaluate(ScopeRef(other.path, scope.parent), scope.owner)
                if target in owner:
                    found.append(frozenset([Value(DEFINITION, other.path, number)]))
        return found

    def _homes(self, file: FileSymbols, class_name: str) -> list[FileSymbols]:
        """Return the files that may add members to a class of a file."""
        if file.rules.names is Names.FILES:
            return [file]
        others = self._resolver.tables.definers(class_name)
        return [file, *(other for other in others if other.path != file.path)]

    def parts(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and the blocks that add members to it."""
        if place in self._parts:
            return self._parts[place]
        file = self._resolver.tables.file(place.path)
        self._parts[place] = found = [place]
        if file is None or not file.rules.open_classes:
            return found
        target, scope = Value(DEFINITION, *place), file.scope(place.scope)
        for other in self._homes(file, scope.name):
            for number in other.extensions.get(scope.name, ()):
                extension = other.scope(number)
                part = ScopeRef(other.path, number)
                outer = ScopeRef(other.path, extension.parent)
                if part == place:
                    continue
                if extension.kind == CLASS:
                    same = other.package_of(number) == file.package_of(place.scope)
                    reopens = file.rules.names not in (Names.FILES, Names.MODULES, Names.FOLDERS)
                    reopens = reopens and not file.rules.twins
                    if reopens and same and extension.path == scope.path:
                        found.append(part)
                elif target in self._resolver.evaluate(outer, extension.owner):
                    found.append(part)
        return found

    def _defined_once(self, values: Values) -> Values:
        """Leave out declarations of functions that are defined elsewhere."""
        if len(values) < 2:
            return values
        declared: dict[Value, Sequence[str]] = {}
        defined: list[Sequence[str]] = []
        for value in values:
            file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
            if file is None:
                continue
            scope = file.scope(value.scope)
            if DECLARATION in scope.marks:
                declared[value] = [last_name(each.type) for each in scope.parameters]
            else:
                defined.append([last_name(each.type) for each in scope.parameters])
        counts = Counter(len(each) for each in declared.values())
        sizes = Counter(map(len, defined))
        met = {size for size, count in counts.items() if sizes[size] >= count}
        return frozenset(
            value
            for value in values
            if value not in declared
            or (len(declared[value]) not in met and declared[value] not in defined)
        )

    def _property(self, values: Values, instance: bool) -> Values:
        """Return what a property gives, for a definition that is one."""
        if not instance:
            return values
        resolver = self._resolver
        return union(
            resolver.calls.called(frozenset([v]))
            if resolver.properties.is_getter(v)
            else frozenset([v])
            for v in values
        )

    def is_type(self, value: Value) -> bool:
        """Whether a definition is an interface, which has no value."""
        scope = self._resolver.scope_of(value)
        return scope is not None and scope.kind == CLASS and DECLARATION in scope.marks

    def ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and those it inherits from, nearest first."""
        return self._resolver.remember(("ancestors", place), lambda: self._ancestors(place))

    def _ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        found: list[ScopeRef] = []
        pending = [place]
        file = self._resolver.tables.file(place.path)
        by_depth = file is not None and file.rules.static  # an embedded type that is nearer wins
        for _ in range(MAX_ANCESTORS):
            if not pending:
                break
            current = pending.pop(0)
            if current in found and by_depth:
                continue
            if current in found:
                found.remove(current)  # a shared ancestor comes after all its descendants
            found.append(current)
            above = self.parents(current)
            pending = [*pending, *above] if by_depth else [*above, *pending]
        return found

    def parents(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that a class names as its bases."""
        return [
            parent for part in self.parts(place) for parent in self.bases(part) if parent != place
        ]

    def bases(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that one block of a class names as its bases."""
        file = self._resolver.tables.file(place.path)
        if file is None:
            return []
        scope = file.scope(place.scope)
        outer = ScopeRef(place.path, scope.parent)
        return [
            ScopeRef(value.path, value.scope)
            for base in scope.bases
            for value in self._resolver.evaluate(outer, base)
            if value.kind == DEFINITION
        ]

    def has_foreign_base(self, value: Value) -> bool:
        """Whether an instance is of a class that inherits from one outside of the repository."""
        return self._has_foreign_ancestor(self.ancestors(ScopeRef(value.path, value.scope)))

    def _has_foreign_ancestor(self, places: Sequence[ScopeRef]) -> bool:
        """Whether a class inherits from one that is not in the repository."""
        for place in places:
            file = self._resolver.tables.file(place.path)
            if file is None:
                return True
            scope = file.scope(place.scope)
            outer = ScopeRef(place.path, scope.parent)
            for base in scope.bases:
                values = self._resolver.evaluate(outer, base)
                if any(v.kind != DEFINITION and v.name not in _KNOWN_BASES for v in values):
                    return True
        return False

    def is_outside(self, places: Sequence[ScopeRef]) -> bool:
        """Whether one of some classes names a base that is known to be outside of the repo."""
        return any(
            value.kind == EXTERNAL
            for place in places
            if (file := self._resolver.tables.file(place.path))
            for base in file.scope(place.scope).bases
            for value in self._resolver.evaluate(
                ScopeRef(place.path, file.scope(place.scope).parent), base
            )
        )

    def below(self, value: Value, name: str) -> Values:
        """Return the definitions of an attribute in the classes that inherit from one."""
        found = self._resolver.remember(
            ("below", value, name), lambda: union(self._in_subclasses(value, name))
        )
        return frozenset(each for each in found if each.kind == DEFINITION)

    def is_declared_only(self, value: Value) -> bool:
        """Whether a method is there for others to define."""
        file = self._resolver.tables.file(value.path)
        if file is None or not file.rules.explicit_self:
            return False
        scope = file.scope(value.scope)
        outer = file.scope(max(scope.parent, 0))
        names = {last_name(each) for each in (*scope.decorators, *outer.bases)}
        return not names.isdisjoint(("abstractmethod", "Protocol"))

    def _in_subclasses(self, value: Value, name: str) -> list[Values]:
        """Find an attribute that a class lacks in the classes that inherit from it."""
        file = self._resolver.tables.file(value.path)
        if file is None:
            return []
        target, found = ScopeRef(value.path, value.scope), []
        for other in self._resolver.tables.few_callers(file.scope(value.scope).name):
            for number in other.classes_with(name):
                place = ScopeRef(other.path, number)
                if (
                    other.scope(number).bases
                    and place != target
                    and target in self.ancestors(place)
                ):
                    own = self._own_attribute(place, name, instance=value.kind == INSTANCE)
                    found += [own] if own is not None else []
        return found


def _of_kind(file: FileSymbols, bindings: Sequence[Binding], instance: bool) -> Sequence[Binding]:
    """Leave out methods of the class for an instance, and the others for the class itself."""
    if len(bindings) < 2 or not file.rules.objects:
        return bindings
    kept = [each for each in bindings if _fits(file, each.value, instance)]
    return kept or bindings


def _fits(file: FileSymbols, value: Expression, instance: bool) -> bool:
    if isinstance(value, str) or value[0] != LAMBDA:
        return True
    return file.of_class(value[1]) != instance
