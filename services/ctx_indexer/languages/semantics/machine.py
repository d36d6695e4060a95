"""The questions that a language may ask the graph back."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.values import ScopeRef, Value, Values
from ctx_indexer.syntax.symbols.table import Binding, Call, Expression, Import, Scope

T = TypeVar("T")


class Tables(Protocol):
    """The files that a resolver may read."""

    misses: int  # the number of questions for tables that are not loaded yet

    def file(self, path: str) -> FileSymbols | None: ...

    def callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name, and note that all of them are wanted."""
        ...

    def few_callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name; more are wanted as long as they are few."""
        ...

    def definers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that define a name for others, or extend a class of it."""
        ...


class ClassTree(Protocol):
    """Classes with their ancestors, descendants and members."""

    def around(self, place: ScopeRef) -> Values:
        """Return the class around a scope: of a method, of a lambda in it, of code in its body."""
        ...

    def classes_at(self, file: FileSymbols, number: int) -> Values:
        """Return the class that a scope is, or whose member it is: `Cart` of `void Cart::add()`."""
        ...

    def ancestors(self, place: ScopeRef) -> list[ScopeRef]:
        """Return a class and the classes it inherits from, nearest first."""
        ...

    def parents(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that a class names as its bases."""
        ...

    def bases(self, place: ScopeRef) -> list[ScopeRef]:
        """Return the classes that one block of a class names as its bases."""
        ...

    def own(self, place: ScopeRef, name: str) -> Values:
        """Return the definitions of a member that a class itself has."""
        ...

    def own_attribute(self, place: ScopeRef, name: str, *, instance: bool) -> Values | None:
        """Return a member of a class itself, as an instance or the class has it."""
        ...

    def inherited(self, value: Value, name: str) -> Values:
        """Return an attribute of a class or instance: its own, inherited, or of a subclass."""
        ...

    def implicit(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return a member of the class around a scope, which methods name without a receiver."""
        ...

    def is_foreign(self, file: FileSymbols, number: int) -> bool:
        """Whether the class around a scope inherits from one outside of the repository."""
        ...

    def has_foreign_base(self, value: Value) -> bool:
        """Whether an instance is of a class that inherits from one outside of the repository."""
        ...

    def has_foreign_ancestor(self, places: Sequence[ScopeRef]) -> bool:
        """Whether one of some classes names a base that is not in the repository."""
        ...

    def in_subclasses(self, value: Value, name: str) -> list[Values]:
        """Return an attribute of the classes that inherit from one."""
        ...

    def owned(self, files: Sequence[FileSymbols], place: ScopeRef, name: str) -> list[Values]:
        """Return the members of a class that stand outside of it, in some files."""
        ...

    def below(self, value: Value, name: str) -> Values:
        """Return the definitions of an attribute in the classes that inherit from one."""
        ...

    def is_declared_only(self, value: Value) -> bool:
        """Whether a method only says that subclasses have it: `@abstractmethod`."""
        ...

    def is_type(self, value: Value) -> bool:
        """Whether a definition is an interface, which has no value."""
        ...

    def is_outside(self, places: Sequence[ScopeRef]) -> bool:
        """Whether one of some classes names a base that is known to be outside of the repo."""
        ...


class Machine(Protocol):
    """Resolves expressions; it asks the language of a file wherever languages differ."""

    @property
    def classes(self) -> ClassTree: ...

    # Files

    def file(self, path: str) -> FileSymbols | None:
        """Return the symbols of a file; None where it has none, or they are not loaded yet."""
        ...

    def few_callers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that mention a name; more are wanted as long as they are few."""
        ...

    def definers(self, name: str) -> Sequence[FileSymbols]:
        """Return the loaded files that define a name for others, or extend a class of it."""
        ...

    def scope_of(self, value: Value) -> Scope | None:
        """Return the scope of a definition; None for any other value, or one not loaded."""
        ...

    def function_of(self, value: Value) -> Scope | None:
        """Return the scope of a function; None for anything else."""
        ...

    # Steps

    @property
    def exhausted(self) -> bool:
        """Whether a question has taken all the steps that it may."""
        ...

    def remember(self, key: object, compute: Callable[[], T]) -> T:
        """Return the result kept under a key, or compute it."""
        ...

    def entered(self, key: object) -> AbstractContextManager[bool]:
        """Enter a step of resolving; False where it goes in circles or beyond its bounds."""
        ...

    # Expressions

    def evaluate(self, place: ScopeRef, expression: Expression) -> Values:
        """Return the values that an expression may have at a place."""
        ...

    def name(self, place: ScopeRef, name: str) -> Values:
        """Look a name up in a scope and the scopes around it, then outside of the file."""
        ...

    def bound(self, file: FileSymbols, number: int, name: str) -> Values | None:
        """Return the values that a scope itself binds a name to; None where it does not."""
        ...

    def binding(self, path: str, binding: Binding) -> Values:
        """Return the values that one binding gives its name."""
        ...

    def imported(self, importer: str, each: Import) -> Values:
        """Return the values that an import binds its name to."""
        ...

    def attribute(self, values: Values, name: str) -> Values:
        """Return the members of values by their name: `Cart` and `add` → `Cart.add`."""
        ...

    def elements(self, values: Values) -> Values:
        """Return the values that a loop over values gives: `[a, b]` → `a`, `b`."""
        ...

    def instances(self, classes: Values, name: str = "") -> Values:
        """Return instances of classes; OPEN names an instance that may be of a subclass."""
        ...

    def typed(self, file: FileSymbols, number: int, written: Expression) -> Values:
        """Return an instance of a type that the head of a function names."""
        ...

    def parameter(self, file: FileSymbols, number: int, position: int) -> Values:
        """Return the values that a parameter of a function may have."""
        ...

    # Calls

    def called(self, values: Values) -> Values:
        """Return the values that calling values gives."""
        ...

    def targets(self, place: ScopeRef, call: Call) -> Values:
        """Return the functions that a call runs: `Cart()` → `Cart.__init__`."""
        ...

    def run(self, place: ScopeRef, call: Call, values: Values) -> Values:
        """Return the functions that a call of values runs, before overloads are compared."""
        ...

    def fitting(self, place: ScopeRef, call: Call, functions: Values) -> Values:
        """Leave out the overloads that a call does not fit."""
        ...

    def below(self, place: ScopeRef, call: Call) -> Values:
        """Return the methods of subclasses that a call may run instead, by its receiver."""
        ...

    def passed(self, file: FileSymbols, number: int, position: int, shift: int = 0) -> Values:
        """Return the default of a parameter, and the arguments that callers pass for it.

        `shift` parameters before it are passed by no call: `self` in Python.
        """
        ...
