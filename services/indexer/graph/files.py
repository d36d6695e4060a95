"""A symbol table with what the resolver looks up in it, indexed once."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from services.indexer.graph.objects import FileObjects
from services.indexer.graph.rules import rules_of
from services.indexer.syntax.symbols.table import (
    ASSIGNED,
    BLOCK,
    CLASS,
    DECLARED,
    EITHER,
    EVERY_NAME,
    EXTENSION,
    FILE_SCOPE,
    FUNCTION,
    IN_TYPE,
    ITEM,
    LAMBDA,
    LOCAL,
    MEMBER,
    MODULE,
    NAMESPACE,
    OF_CLASS,
    TYPED,
    Binding,
    Call,
    Expression,
    Import,
    Read,
    Scope,
    SymbolTable,
    file_mention,
    inner_names,
    last_name,
)

_NAME = re.compile(r"(\w+)(?![\w.])")  # the last of a dotted name
CONSTRUCTOR = "<new>"  # the name under which constructors are looked up
ALLOCATOR = "__new__"
COMPANION = "Companion"  # the class of a class's own members, in Kotlin
NO_CLASS = -1
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")
OVERLOAD = "overload"
SETTING = "__setattr__"  # the method that runs where any attribute is assigned
ADDING = (".append", ".add", ".insert", ".appendleft")  # calls that put their last argument in
STATIC = frozenset(["staticmethod"])
CLASS_METHODS = frozenset(["classmethod", ALLOCATOR, "__init_subclass__", "__class_getitem__"])


class Receiver(NamedTuple):
    """The class or extension that a method is in, and the name of its instance there."""

    scope: int  # NO_CLASS for a method that stands outside of its class
    name: str
    method: int


class FileSymbols:
    """The symbols of one file."""

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

    @cached_property
    def dotted(self) -> dict[str, list[Binding]]:
        """Assignments to dotted names, by the whole name."""
        found: dict[str, list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and "." in binding.target:
                found[binding.target].append(binding)
        return found

    @cached_property
    def objects(self) -> FileObjects:
        """The functions that are members of objects."""
        return FileObjects(self.table, self.dotted)

    @cached_property
    def items(self) -> dict[str, list[Binding]]:
        """Assignments to items of a container, by the container's dotted name."""
        found: dict[str, list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            target = binding.target
            if isinstance(target, list) and target[0] == ITEM and isinstance(target[1], str):
                found[target[1]].append(binding)
        return found

    @cached_property
    def added(self) -> dict[str, list[tuple[int, Expression]]]:
        """What calls add to a container, with their scopes, by the container's dotted name."""
        found: dict[str, list[tuple[int, Expression]]] = defaultdict(list)
        for number, function in enumerate(self.table.called() if self.rules.explicit_self else ()):
            if isinstance(function, str) and function.endswith(ADDING):
                call = self.table.calls[number]
                if call.arguments:
                    owner = function.rpartition(".")[0]
                    found[owner].append((call.scope, call.arguments[-1]))
        return found

    @cached_property
    def imports(self) -> dict[tuple[int, str], list[Import]]:
        """Imported names by scope and alias."""
        found: dict[tuple[int, str], list[Import]] = defaultdict(list)
        for each in self.table.imports:
            found[each.scope, each.alias].append(each)
        return found

    @cached_property
    def star_imports(self) -> Sequence[Import]:
        """Imports of every name of a module."""
        return [each for each in self.table.imports if each.name == EVERY_NAME]

    @cached_property
    def attributes(self) -> dict[tuple[int, str], list[Binding]]:
        """What methods assign to attributes of their own instance, by class and name."""
        found: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and binding.target.count(".") == 1:
                owner, name = binding.target.split(".")
                receiver = self.receiver(binding.scope)
                if receiver is not None and self._is_instance(receiver, owner):
                    found[receiver.scope, name].append(binding)
        return found

    def inheriting(self, name: str) -> Iterator[int]:
        """Yield the classes and blocks with a base of a name, or of one that the file gives it."""
        names = self.aliases(name)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind in (CLASS, EXTENSION) and any(last_name(b) in names for b in scope.bases):
                yield number

    def classes_with(self, name: str) -> Sequence[int]:
        """Return the classes that have a member of a name themselves."""
        return self._members.get(name, ())

    @cached_property
    def _members(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, name in {**self.bindings, **self.attributes}:
            if number >= 0 and self.scope(number).kind == CLASS:
                found[name].append(number)
        return found

    def _is_instance(self, receiver: Receiver, name: str) -> bool:
        return name == receiver.name or name in self.rules.instance

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

    def same_owner(self, first: int, second: int, name: str) -> bool:
        """Whether a dotted name means the same in two scopes: of one instance, or one function."""
        one, other = self.receiver(first), self.receiver(second)
        if one is not None and other is not None and name.startswith(f"{one.name}."):
            return (one.scope, one.name) == (other.scope, other.name)
        return first == second or (FILE_SCOPE, name) in self.bindings

    def takes_class(self, number: int) -> bool:
        """Whether the first parameter of a method is its class."""
        scope = self.scope(number)
        return scope.name in CLASS_METHODS or bool(CLASS_METHODS.intersection(self.marks(number)))

    @cached_property
    def results(self) -> dict[int, list[Expression]]:
        """What functions return, by scope."""
        found: dict[int, list[Expression]] = defaultdict(list)
        for each in self.table.results:
            found[each.scope].append(each.value)
        return found

    @cached_property
    def calls(self) -> dict[str, list[int]]:
        """The numbers of calls by the name that the called expression ends in."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, function in enumerate(self.table.called()):
            found[last_name(function)].append(number)
        return found

    def uses(self, name: str) -> Iterator[Read]:
        """Yield where an attribute of a name is read or assigned, also before a call."""
        for each in self.table.reads:
            if name in inner_names(each.value) or (name == SETTING and each.how == ASSIGNED):
                yield each
        for number, function in enumerate(self.table.called()):
            if name in inner_names(function):
                call = self.table.calls[number]
                yield Read(call.scope, call.line, function)

    def calls_of(self, name: str) -> Iterator[Call]:
        """Yield the calls of a name, also under the names that the file gives it."""
        for each in sorted(self.aliases(name)):
            yield from (self.table.calls[number] for number in self.calls.get(each, ()))

    def aliases(self, name: str) -> set[str]:
        """Return the names under which the file may know something: imported or assigned ones."""
        names = {name}
        for each in self.table.imports:
            if each.name == name and each.alias != EVERY_NAME:
                names.add(each.alias)
        for target, value in self._renamed:
            if value in names:
                names.add(target)
        return names

    @cached_property
    def passed(self) -> frozenset[str]:
        """The last names of what may be passed on: in arguments, results, what is assigned."""
        held = [each.value for each in self.table.bindings]
        held += [each.value for each in self.table.results]
        texts = [*self.table.given(), *map(str, held)]
        return frozenset(name for text in texts for name in _NAME.findall(text))

    @cached_property
    def _renamed(self) -> Sequence[tuple[str, str]]:
        """The last names of targets and values of assignments, where both have one."""
        pairs = (
            (last_name(each.target), last_name(value))
            for each in self.table.bindings
            for value in _choices(each.value)
        )
        return [pair for pair in pairs if all(pair)]


def _plain_name(scope: Scope) -> str:
    """Return the name that code calls a scope by: a specialised template by its template's."""
    return scope.name.partition("<")[0] if scope.kind == CLASS else scope.name


def _valued(bindings: list[Binding]) -> list[Binding]:
    """Leave out the types of what is defined, and declarations that say nothing of a value."""
    is_defined = any(isinstance(b.value, list) and b.value[0] == LAMBDA for b in bindings)
    kept = [b for b in bindings if b.how != TYPED or (b.value and not is_defined)]
    return kept or bindings


def _choices(value: Expression) -> Sequence[Expression]:
    """Return the expressions of which a value is one."""
    return value[1:] if isinstance(value, list) and value[0] == EITHER else [value]
