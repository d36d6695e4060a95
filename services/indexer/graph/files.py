"""A symbol table with what the resolver looks up in it, indexed once."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import cached_property

from services.indexer.syntax.symbols.table import (
    ASSIGNED,
    CLASS,
    EVERY_NAME,
    FUNCTION,
    ITEM,
    LAMBDA,
    Binding,
    Call,
    Expression,
    Import,
    Scope,
    SymbolTable,
    last_name,
)

CONSTRUCTOR = "__init__"
STATIC = frozenset(["staticmethod"])
CLASS_METHODS = frozenset(["classmethod", "__new__", "__init_subclass__", "__class_getitem__"])


class FileSymbols:
    """The symbols of one file."""

    def __init__(self, path: str, table: SymbolTable, mentions: Set[str] = frozenset()) -> None:
        self.path = path
        self.table = table
        self.mentions = mentions or frozenset(table.mentions)

    def scope(self, number: int) -> Scope:
        """Return a scope by its number."""
        return self.table.scopes[number]

    @cached_property
    def bindings(self) -> dict[tuple[int, str], list[Binding]]:
        """Plain names by scope and name."""
        found: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and "." not in binding.target:
                found[binding.scope, binding.target].append(binding)
        for number, scope in enumerate(self.table.scopes):
            if scope.parent >= 0:
                definition = Binding(scope.parent, scope.name, ASSIGNED, [LAMBDA, number])
                found[scope.parent, scope.name].append(definition)
        return found

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
                if receiver is not None and receiver[1] == owner:
                    found[receiver[0], name].append(binding)
        return found

    def receiver(self, number: int) -> tuple[int, str] | None:
        """Return the class whose method a scope is in, and the name of its instance there."""
        while number > 0:
            scope = self.scope(number)
            if scope.kind == FUNCTION and self.scope(scope.parent).kind == CLASS:
                if scope.parameters and not STATIC.intersection(self.marks(number)):
                    return scope.parent, scope.parameters[0].name
                return None
            number = scope.parent
        return None

    def called_name(self, number: int) -> tuple[str, bool]:
        """Return the name that calls of a definition end in, and whether it is a member's."""
        scope = self.scope(number)
        outer = self.scope(scope.parent)
        if outer.kind != CLASS:
            return scope.name, False
        return (outer.name, False) if scope.name == CONSTRUCTOR else (scope.name, True)

    def marks(self, number: int) -> Iterator[str]:
        """Yield the plain decorators of a scope."""
        return (each for each in self.scope(number).decorators if isinstance(each, str))

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
        for number, call in enumerate(self.table.calls):
            found[last_name(call.function)].append(number)
        return found

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
    def _renamed(self) -> Sequence[tuple[str, str]]:
        """The last names of targets and values of assignments, where both have one."""
        pairs = ((last_name(each.target), last_name(each.value)) for each in self.table.bindings)
        return [pair for pair in pairs if all(pair)]
