"""Attributes of classes and their instances: own and inherited ones, and ones of subclasses."""

from collections import Counter
from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.registry import semantics_of
from ctx_indexer.languages.semantics.targets import Use
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    EXTERNAL,
    INSTANCE,
    NOTHING,
    PARENT,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    CLASS,
    DECLARATION,
    IN_TYPE,
    last_name,
)

_KNOWN_BASES = frozenset([f"{BUILTINS}.object", f"{BUILTINS}.Object"])


class Classes:
    """Looks attributes up in classes, their ancestors and their subclasses."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
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
            found = self.own_attribute(place, name, instance=value.kind != DEFINITION)
            if found is not None:
                return found
        members = semantics_of(self._machine.file(value.path)).members
        return members.absent(self._machine, value, ancestors, name)

    def implicit(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return a member of the class around a scope, which methods name without a receiver."""
        for value in self.classes_at(file, number):
            for place in self.ancestors(ScopeRef(value.path, value.scope)):
                found = self.own_attribute(place, name, instance=True)
                if found is not None:
                    return found
        return None

    def is_foreign(self, file: FileSymbols, number: int) -> bool:
        """Whether the class around a scope inherits from one outside of the repository."""
        return any(
            self.has_foreign_ancestor(self.ancestors(ScopeRef(value.path, value.scope)))
            for value in self.classes_at(file, number)
        )

    def around(self, place: ScopeRef) -> Values:
        """Return the class around a scope: of a method, of a lambda in it, of code in its body."""
        file = self._machine.file(place.path)
        number = place.scope
        while file is not None and number > 0:
            if classes := self.classes_at(file, number):
                return classes
            number = file.scope(number).parent
        return NOTHING

    def classes_at(self, file: FileSymbols, number: int) -> Values:
        """Return the class that a scope is, or whose member it is: `Cart` of `void Cart::add()`."""
        scope = file.scope(number)
        if scope.kind == CLASS:
            return frozenset([Value(DEFINITION, file.path, number)])
        if not scope.owner or scope.receiver == IN_TYPE:
            return NOTHING
        values = self._machine.evaluate(ScopeRef(file.path, scope.parent), scope.owner)
        return frozenset(value for value in values if value.kind == DEFINITION)

    def own(self, place: ScopeRef, name: str) -> Values:
        """Return the definitions of a member that a class itself has."""
        found = self.own_attribute(place, name, instance=False) or NOTHING
        return frozenset(value for value in found if value.kind == DEFINITION)

    def own_attribute(self, place: ScopeRef, name: str, *, instance: bool) -> Values | None:
        """Return a member of a class itself: from its body, an assignment, or outside of it.

        `def add`, `self.add = …`, `void Cart::add()`; an inherited member is none of its own.
        """
        found: list[Values] = []
        typed = False
        for part in self.parts(place):
            file = self._machine.file(part.path)
            if file is None:
                continue
            members = semantics_of(file).members
            for binding in members.bindings(file, part.scope, name, instance=instance):
                values = self._machine.binding(part.path, binding)
                found.append(self._property(values, instance))
                typed = typed or any(value.kind == INSTANCE for value in values)
            if members.is_declared(found=bool(found), typed=typed):
                continue
            for binding in file.attributes.get((part.scope, name), ()):
                found.append(self._machine.binding(part.path, binding))
        home = self._machine.file(place.path)
        members = semantics_of(home).members
        if home is not None:
            found += members.elsewhere(self._machine, home, place, name)
        if found:
            return self._defined_once(union(found))
        return members.lent(self._machine, home, place, name) if home is not None else None

    def owned(self, files: Sequence[FileSymbols], place: ScopeRef, name: str) -> list[Values]:
        """Return the members of a class that stand outside of it, in some files."""
        target = Value(DEFINITION, *place)
        home = self._machine.file(place.path)
        class_name = home.scope(place.scope).name if home else ""
        found = []
        for other in files:
            for number in other.owned.get((class_name, name), ()):
                scope = other.scope(number)
                owner = self._machine.evaluate(ScopeRef(other.path, scope.parent), scope.owner)
                if target in owner:
                    found.append(frozenset([Value(DEFINITION, other.path, number)]))
        return found

    def parts(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and the blocks that add members to it: `impl Cart { … }`."""
        if place in self._parts:
            return self._parts[place]
        file = self._machine.file(place.path)
        self._parts[place] = found = [place]
        if file is None:
            return found
        members, name = semantics_of(file).members, file.scope(place.scope).name
        for other in members.homes(self._machine, file, name):
            for number in other.extensions.get(name, ()):
                part = ScopeRef(other.path, number)
                if part != place and members.extends(self._machine, file, place, other, number):
                    found.append(part)
        return found

    def _defined_once(self, values: Values) -> Values:
        """Leave out declarations of functions that are defined elsewhere: `void add();`."""
        if len(values) < 2:
            return values
        declared: dict[Value, Sequence[str]] = {}
        defined: list[Sequence[str]] = []
        for value in values:
            file = self._machine.file(value.path) if value.kind == DEFINITION else None
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
        """Return the results of getters in place of them, for members of an instance."""
        if not instance:
            return values
        return union(
            self._machine.called(frozenset([v])) if self._is_getter(v) else frozenset([v])
            for v in values
        )

    def _is_getter(self, value: Value) -> bool:
        file = self._machine.file(value.path) if value.kind == DEFINITION else None
        return file is not None and semantics_of(file).targets.use(file, value.scope) is Use.READ

    def is_type(self, value: Value) -> bool:
        """Whether a definition is an interface, which has no value."""
        scope = self._machine.scope_of(value)
        return scope is not None and scope.kind == CLASS and DECLARATION in scope.marks

    def ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and the classes that it inherits from, nearest first."""
        return self._machine.remember(("ancestors", place), lambda: self._ancestors(place))

    def _ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        members = semantics_of(self._machine.file(place.path)).members
        return members.line(self._machine, place)

    def parents(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that a class names as its bases."""
        return [
            parent for part in self.parts(place) for parent in self.bases(part) if parent != place
        ]

    def bases(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that one block of a class names as its bases."""
        file = self._machine.file(place.path)
        if file is None:
            return []
        scope = file.scope(place.scope)
        outer = ScopeRef(place.path, scope.parent)
        return [
            ScopeRef(value.path, value.scope)
            for base in scope.bases
            for value in self._machine.evaluate(outer, base)
            if value.kind == DEFINITION
        ]

    def has_foreign_base(self, value: Value) -> bool:
        """Whether an instance is of a class that inherits from one outside of the repository."""
        return self.has_foreign_ancestor(self.ancestors(ScopeRef(value.path, value.scope)))

    def has_foreign_ancestor(self, places: Sequence[ScopeRef]) -> bool:
        """Whether one of some classes names a base that is not in the repository, or is unknown."""
        for place in places:
            file = self._machine.file(place.path)
            if file is None:
                return True
            scope = file.scope(place.scope)
            outer = ScopeRef(place.path, scope.parent)
            for base in scope.bases:
                values = self._machine.evaluate(outer, base)
                if any(v.kind != DEFINITION and v.name not in _KNOWN_BASES for v in values):
                    return True
        return False

    def is_outside(self, places: Sequence[ScopeRef]) -> bool:
        """Whether one of some classes names a base that is known to be outside of the repo."""
        return any(
            value.kind == EXTERNAL
            for place in places
            if (file := self._machine.file(place.path))
            for base in file.scope(place.scope).bases
            for value in self._machine.evaluate(
                ScopeRef(place.path, file.scope(place.scope).parent), base
            )
        )

    def below(self, value: Value, name: str) -> Values:
        """Return the definitions of an attribute in the classes that inherit from one."""
        found = self._machine.remember(
            ("below", value, name), lambda: union(self.in_subclasses(value, name))
        )
        return frozenset(each for each in found if each.kind == DEFINITION)

    def is_declared_only(self, value: Value) -> bool:
        """Whether a method only says that subclasses have it: `@abstractmethod`."""
        file = self._machine.file(value.path)
        return file is not None and semantics_of(file).targets.is_declared_only(file, value.scope)

    def in_subclasses(self, value: Value, name: str) -> list[Values]:
        """Return an attribute as each class that inherits from another has it itself."""
        file = self._machine.file(value.path)
        if file is None:
            return []
        target, found = ScopeRef(value.path, value.scope), []
        for other in self._machine.few_callers(file.scope(value.scope).name):
            for number in other.classes_with(name):
                place = ScopeRef(other.path, number)
                if (
                    other.scope(number).bases
                    and place != target
                    and target in self.ancestors(place)
                ):
                    own = self.own_attribute(place, name, instance=value.kind == INSTANCE)
                    found += [own] if own is not None else []
        return found
