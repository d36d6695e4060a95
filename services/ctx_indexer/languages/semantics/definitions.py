"""The definitions of one file: its scopes, the names they bind, and whose members they are."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    BLOCK,
    CLASS,
    EXTENSION,
    FUNCTION,
    IN_TYPE,
    LAMBDA,
    MEMBER,
    MODULE,
    NAMESPACE,
    OF_CLASS,
    Binding,
    Scope,
    SymbolTable,
    file_mention,
    last_name,
)

CONSTRUCTOR = "<new>"  # the name of constructors in the indexes of a file
NO_CLASS = -1

T = TypeVar("T")
Bindings = dict[tuple[int, str], list[Binding]]  # of plain names, by scope and name


@dataclass(frozen=True)
class Words:
    """The words of a language by which code names its own classes and methods."""

    instance: frozenset[str] = frozenset()  # name the instance: `this`; Python has none
    own_class: frozenset[str] = frozenset()  # name the class around: `Self`
    parent: frozenset[str] = frozenset()  # name the class above: `super`
    constructor: str = ""  # the name of constructors; empty where they are named as their class
    allocator: str = ""  # the method that makes an instance before it is constructed: `__new__`
    sigil: str = ""  # the first character of a variable: `$` of `$x`
    callable_members: frozenset[str] = frozenset()  # members that call a function: `f.apply()`
    passing: frozenset[str] = frozenset()  # members whose call gives the owner: `x.unwrap()`


class Receiver(NamedTuple):
    """The class or extension that a method is in, and the name of its instance there.

    `def add(self)` in `Cart` → the scope of `Cart`, `self`, the scope of `add`.
    """

    scope: int  # NO_CLASS for a method that stands outside of its class
    name: str
    method: int


class NameRules(Protocol):
    """Leaves out bindings of a file that stand for no value, such as declared overloads."""

    def keep(self, file: "Definitions", found: Bindings) -> None: ...


class ReceiverRules(Protocol):
    """Tells whose method a scope is in."""

    def around(self, file: "Definitions", number: int) -> Receiver | None: ...


class Reading(Protocol):
    """How a language reads the table of one file."""

    @property
    def words(self) -> Words: ...

    @property
    def names(self) -> NameRules: ...

    @property
    def receivers(self) -> ReceiverRules: ...


class Definitions:
    """The scopes of a file, and the names they bind."""

    def __init__(self, path: str, table: SymbolTable, reading: Reading) -> None:
        self.path = path
        self.table = table
        self.mentions = frozenset((file_mention(path), *table.mentions))
        self.words = reading.words
        self._reading = reading
        self._indexes: dict[object, Any] = {}

    def indexed(self, build: "Callable[[Self], T]") -> T:
        """Return the index of this file that a function of a language builds, built once."""
        if build not in self._indexes:
            self._indexes[build] = build(self)
        found: T = self._indexes[build]
        return found

    def scope(self, number: int) -> Scope:
        """Return a scope by its number."""
        return self.table.scopes[number]

    def outside_blocks(self, number: int) -> int:
        """Return the scope around a block; a scope that is no block is returned itself."""
        while self.scope(number).kind == BLOCK:
            number = self.scope(number).parent
        return number

    @cached_property
    def bindings(self) -> Bindings:
        """The bindings of names without dots, by scope and name: of `x = 1`, not of `a.x = 1`."""
        found: Bindings = defaultdict(list)
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
            if is_constructor and self.words.constructor:
                names.append(scope.name)
            if self.words.sigil and scope.kind == FUNCTION:
                names.append(self.words.sigil + scope.name)
            for name in names:
                definition = Binding(scope.parent, name, ASSIGNED, [LAMBDA, number])
                found[scope.parent, name].append(definition)
        self._reading.names.keep(self, found)
        return found

    def is_constructor(self, number: int) -> bool:
        """Whether a function constructs the class around it, or its owner."""
        scope = self.scope(number)
        if scope.kind != FUNCTION or scope.parent < 0:
            return False
        class_name = last_name(scope.owner) or self.class_name(scope.parent)
        constructor = self.words.constructor or class_name.partition("<")[0]
        return bool(class_name) and scope.name == constructor

    def class_name(self, number: int) -> str:
        """Return the name of the class whose members stand in a scope; empty where none do."""
        scope = self.scope(number)
        names = {CLASS: scope.name, EXTENSION: last_name(scope.owner)}
        return names.get(scope.kind, "")

    def is_allocator(self, number: int) -> bool:
        """Whether a function makes the instances of its class: `__new__` in Python."""
        scope = self.scope(number)
        in_class = scope.parent >= 0 and self.scope(scope.parent).kind == CLASS
        return in_class and scope.name == self.words.allocator

    @cached_property
    def owned(self) -> dict[tuple[str, str], list[int]]:
        """Functions and classes outside of their class: `void Cart::add()` by `Cart` and `add`."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind in (FUNCTION, CLASS) and scope.owner:
                name = CONSTRUCTOR if self.is_constructor(number) else scope.name
                found[last_name(scope.owner), name].append(number)
        return found

    @cached_property
    def extensions(self) -> dict[str, list[int]]:
        """Blocks that add members to a class, and classes, by the name of the class.

        `impl shop::Cart { … }` and `class Cart` → `Cart`: a class may be written in several parts.
        """
        found: dict[str, list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind == EXTENSION:
                found[last_name(scope.owner)].append(number)
            elif scope.kind == CLASS:
                found[scope.name].append(number)
        return found

    @cached_property
    def namespaces(self) -> Sequence[int]:
        """The scopes whose names other files may know: the file and its namespaces."""
        kinds = (MODULE, NAMESPACE)
        return [n for n, scope in enumerate(self.table.scopes) if scope.kind in kinds]

    @cached_property
    def top_level(self) -> dict[str, list[int]]:
        """The scopes of `namespaces` that bind a name, by the name."""
        found: dict[str, list[int]] = defaultdict(list)
        outer = frozenset(self.namespaces)
        for number, name in self.bindings:
            if number in outer:
                found[name].append(number)
        return found

    def package_of(self, number: int) -> str:
        """Return the package that a scope is in, with the namespaces around it: `shop.cart`."""
        names: list[str] = []
        while number > 0:
            scope = self.scope(number)
            if scope.kind == NAMESPACE:
                names.insert(0, scope.name)
            number = scope.parent
        return ".".join([self.table.package, *names] if self.table.package else names)

    def receiver(self, number: int) -> Receiver | None:
        """Return the class whose method a scope is in, and the name of its instance there."""
        return self._reading.receivers.around(self, number)

    def called_name(self, number: int) -> tuple[str, bool]:
        """Return the name that calls of a definition end in, and whether it is a member.

        `Cart.add` → `add`, True; the constructor of `Cart` → `Cart`, False.
        """
        scope = self.scope(number)
        outer = self.scope(scope.parent)
        if self.is_constructor(number) or self.is_allocator(number):
            return (last_name(scope.owner) or self.class_name(scope.parent)), False
        is_member = outer.kind in (CLASS, EXTENSION) or MEMBER in scope.marks
        return scope.name, is_member or bool(scope.owner)

    def of_class(self, number: int) -> bool:
        """Whether a method belongs to its class, not to instances."""
        return OF_CLASS in self.scope(number).marks

    def marks(self, number: int) -> Iterator[str]:
        """Yield the decorators of a scope that are dotted names: `a.b` of `@a.b`, not `@a()`."""
        return (each for each in self.scope(number).decorators if isinstance(each, str))


def _plain_name(scope: Scope) -> str:
    """Return the name by which code names a scope: `Box<int>`, a specialisation → `Box`."""
    return scope.name.partition("<")[0] if scope.kind == CLASS else scope.name
