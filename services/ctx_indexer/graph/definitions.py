"""The definitions of one file: its scopes, the names they bind, and whose members they are."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ctx_indexer.graph.rules import rules_of
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    BLOCK,
    CLASS,
    DECLARED,
    EXTENSION,
    FUNCTION,
    IN_TYPE,
    LAMBDA,
    LOCAL,
    MEMBER,
    MODULE,
    NAMESPACE,
    OF_CLASS,
    TYPED,
    Binding,
    Scope,
    SymbolTable,
    file_mention,
    last_name,
)

CONSTRUCTOR = "<new>"  # the name under which constructors are looked up
ALLOCATOR = "__new__"
COMPANION = "Companion"  # the class of a class's own members, in Kotlin
NO_CLASS = -1
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")
OVERLOAD = "overload"
STATIC = frozenset(["staticmethod"])
CLASS_METHODS = frozenset(["classmethod", ALLOCATOR, "__init_subclass__", "__class_getitem__"])


class Receiver(NamedTuple):
    """The class or extension that a method is in, and the name of its instance there."""

    scope: int  # NO_CLASS for a method that stands outside of its class
    name: str
    method: int


class Definitions:
    """What a file defines."""

    def __init__(self, path: str, table: SymbolTable) -> None:
        self.path = path
        self.table = table
        self.mentions = frozenset((file_mention(path), *table.mentions))
        self.rules = rules_of(table.language)

    def scope(self, number: int) -> Scope:
        """Return a scope by its number."""
        return self.table.scopes[number]

    def outside_blocks(self, number: int) -> int:
        """Return the scope that a block is in, or the scope itself where it is none."""
        while self.scope(number).kind == BLOCK:
            number = self.scope(number).parent
        return number

    @cached_property
    def bindings(self) -> dict[tuple[int, str], list[Binding]]:
        """Plain names by scope and name."""
        found: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and "." not in binding.target:
                found[binding.scope, binding.target].append(binding)
        for number, scope in enumerate(self.table.scopes):
            if scope.parent < 0 or not scope.name or (scope.owner and scope.receiver != IN_TYPE):
                continue
            if MEMBER in scope.marks:
                continue
            is_constructor = self.is_constructor(number)
            names = [CONSTRUCTOR] if is_constructor else [_plain_name(scope)]
            if is_constructor and self.rules.constructor:
                names.append(scope.name)
            if self.rules.sigil and scope.kind == FUNCTION:
                names.append(self.rules.sigil + scope.name)
            for name in names:
                definition = Binding(scope.parent, name, ASSIGNED, [LAMBDA, number])
                found[scope.parent, name].append(definition)
        for name_in_scope in self.methods:
            found[name_in_scope] = self._without_methods(found[name_in_scope])
        for key, bindings in found.items() if self.rules.objects else ():
            found[key] = _valued(bindings)
        for name_in_scope in self._overloaded:
            found[name_in_scope] = self._implemented(found[name_in_scope])
        return found

    @cached_property
    def methods(self) -> dict[tuple[int, str], list[int]]:
        """Methods and constructors by class and name, where they have names of their own."""
        found: dict[tuple[int, str], list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes if self.rules.declares else ()):
            is_constructor = self.is_constructor(number)
            if scope.kind == FUNCTION and (scope.returns or is_constructor):
                found[scope.parent, CONSTRUCTOR if is_constructor else scope.name].append(number)
        return found

    def members_of(self, number: int) -> Sequence[int]:
        """Return the methods of a class."""
        return [n for (outer, _), each in self.methods.items() if outer == number for n in each]

    def _without_methods(self, bindings: list[Binding]) -> list[Binding]:
        """Leave out methods where a variable has their name."""
        kept = [each for each in bindings if not self._is_method(each)]
        return kept or bindings

    def _is_method(self, binding: Binding) -> bool:
        value = binding.value
        is_function = isinstance(value, list) and value[0] == LAMBDA
        return is_function and bool(self.scope(int(value[1])).returns)

    def is_type_variable(self, number: int, name: str) -> bool:
        """Whether a scope has a parameter of this name that is a type."""
        return any(
            each.how == ASSIGNED
            and (isinstance(each.value, str) or each.value[0] not in (LAMBDA, DECLARED))
            for each in self.bindings.get((number, name), ())
        )

    @cached_property
    def _overloaded(self) -> set[tuple[int, str]]:
        """Names that have declarations of overloads, which nothing runs."""
        if not self.rules.explicit_self:
            return set()
        return {
            (each.parent, CONSTRUCTOR if self.is_constructor(number) else each.name)
            for number, each in enumerate(self.table.scopes)
            if self._is_overload(number)
        }

    def _is_overload(self, number: int) -> bool:
        return any(last_name(each) == OVERLOAD for each in self.scope(number).decorators)

    def _implemented(self, bindings: list[Binding]) -> list[Binding]:
        kept = [
            each
            for each in bindings
            if isinstance(each.value, str)
            or each.value[0] != LAMBDA
            or not self._is_overload(each.value[1])
        ]
        return kept or bindings

    def is_constructor(self, number: int) -> bool:
        """Whether a function constructs the class around it, or its owner."""
        scope = self.scope(number)
        if scope.kind != FUNCTION or scope.parent < 0:
            return False
        outer = self.scope(scope.parent)
        class_name = last_name(scope.owner) if scope.owner else outer.name
        if not scope.owner and outer.kind != CLASS:
            return False
        return scope.name == (self.rules.constructor or class_name.partition("<")[0])

    def is_allocator(self, number: int) -> bool:
        """Whether a function makes the instances of its class, before they are constructed."""
        scope = self.scope(number)
        in_class = scope.parent >= 0 and self.scope(scope.parent).kind == CLASS
        return in_class and scope.name == ALLOCATOR and self.rules.explicit_self

    @cached_property
    def owned(self) -> dict[tuple[str, str], list[int]]:
        """What stands outside of its class, by the class's last name and its own."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind in (FUNCTION, CLASS) and scope.owner:
                name = CONSTRUCTOR if self.is_constructor(number) else scope.name
                found[last_name(scope.owner), name].append(number)
        return found

    @cached_property
    def extensions(self) -> dict[str, list[int]]:
        """Blocks that add members to a class, by the class's last name; also classes of a name."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind == EXTENSION:
                found[last_name(scope.owner)].append(number)
            elif scope.kind == CLASS:
                found[scope.name].append(number)
        return found

    @cached_property
    def namespaces(self) -> Sequence[int]:
        """The scopes whose names other files may know: the file's, and those of namespaces."""
        kinds = (MODULE, NAMESPACE)
        return [n for n, scope in enumerate(self.table.scopes) if scope.kind in kinds]

    @cached_property
    def top_level(self) -> dict[str, list[int]]:
        """The namespaces that bind a name, by the name."""
        found: dict[str, list[int]] = defaultdict(list)
        outer = frozenset(self.namespaces)
        for number, name in self.bindings:
            if number in outer:
                found[name].append(number)
        return found

    def package_of(self, number: int) -> str:
        """Return the package that a scope is in, with the namespaces around it."""
        names: list[str] = []
        while number > 0:
            scope = self.scope(number)
            if scope.kind == NAMESPACE:
                names.insert(0, scope.name)
            number = scope.parent
        return ".".join([self.table.package, *names] if self.table.package else names)

    def receiver(self, number: int) -> Receiver | None:
        """Return the class whose method a scope is in, and the name of its instance there."""
        while number > 0:
            scope = self.scope(number)
            if scope.kind == FUNCTION:
                if scope.owner and scope.receiver != IN_TYPE:
                    return Receiver(NO_CLASS, scope.receiver, number)
                if self.scope(scope.parent).kind in (CLASS, EXTENSION):
                    return self._method_receiver(number, scope)
            elif scope.kind in (CLASS, EXTENSION) and not self.rules.explicit_self:
                return Receiver(number, "", number)
            number = scope.parent
        return None

    def _method_receiver(self, number: int, scope: Scope) -> Receiver | None:
        if not self.rules.explicit_self:
            return Receiver(scope.parent, "", number)
        if scope.parameters and not STATIC.intersection(self.marks(number)):
            return Receiver(scope.parent, scope.parameters[0].name, number)
        return None

    def is_local(self, number: int) -> bool:
        """Whether other files cannot see a definition."""
        return LOCAL in self.scope(number).marks and not self.path.endswith(HEADERS)

    def called_name(self, number: int) -> tuple[str, bool]:
        """Return the name that calls of a definition end in, and whether it is a member's."""
        scope = self.scope(number)
        outer = self.scope(scope.parent)
        if self.is_constructor(number) or self.is_allocator(number):
            return (last_name(scope.owner) or outer.name), False
        is_member = outer.kind in (CLASS, EXTENSION) or MEMBER in scope.marks
        return scope.name, is_member or bool(scope.owner)

    def of_class(self, number: int) -> bool:
        """Whether a method belongs to its class, not to instances."""
        return OF_CLASS in self.scope(number).marks

    def marks(self, number: int) -> Iterator[str]:
        """Yield the plain decorators of a scope."""
        return (each for each in self.scope(number).decorators if isinstance(each, str))

    def takes_class(self, number: int) -> bool:
        """Whether the first parameter of a method is its class."""
        scope = self.scope(number)
        return scope.name in CLASS_METHODS or bool(CLASS_METHODS.intersection(self.marks(number)))


def _plain_name(scope: Scope) -> str:
    """Return the name that code calls a scope by: a specialised template by its template's."""
    return scope.name.partition("<")[0] if scope.kind == CLASS else scope.name


def _valued(bindings: list[Binding]) -> list[Binding]:
    """Leave out the types of what is defined, and declarations that say nothing of a value."""
    is_defined = any(isinstance(b.value, list) and b.value[0] == LAMBDA for b in bindings)
    kept = [b for b in bindings if b.how != TYPED or (b.value and not is_defined)]
    return kept or bindings
