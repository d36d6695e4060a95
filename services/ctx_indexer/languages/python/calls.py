"""Calls of Python: constructors, properties, and functions that run without being named."""

from collections.abc import Iterator, Sequence

from ctx_indexer.languages.python.classes import ALLOCATOR, parents
from ctx_indexer.languages.python.library import given
from ctx_indexer.languages.python.symbols import PYTHON
from ctx_indexer.languages.semantics.definitions import CONSTRUCTOR
from ctx_indexer.languages.semantics.files import SETTING, FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.results import Results, of_body
from ctx_indexer.languages.semantics.targets import Targets, Use
from ctx_indexer.languages.semantics.values import ScopeRef, Value, Values, union
from ctx_indexer.syntax.symbols.table import Expression, last_name

GETTERS = frozenset(["property", "cached_property", "functools.cached_property"])
SETTER = ".setter"  # ends the decorator of a function that an assignment runs
# Methods that `str(x)`, `len(x)` and the like run: the line does not name them.
_BY_BUILTINS = frozenset(PYTHON.runs.values()) - {"__iter__", "__next__"}
_ABSTRACT = frozenset(["abstractmethod", "Protocol"])
# Decorators of the language and its library that call nothing beside the decorated function.
_PLAIN = frozenset(
    "property cached_property staticmethod classmethod abstractmethod overload override wraps cache"
    " lru_cache contextmanager asynccontextmanager final setter getter deleter total_ordering"
    " dataclass singledispatchmethod".split()
)
# Methods that the language runs at places where tables note a call: `with x` → `x.__enter__`.
_FOLLOWED = frozenset(
    f"__{name}__" for name in "init new call enter exit iter next setattr".split()
)
# Functions that find any definition by a name, which may be computed.
_LOOKUPS = ("import_module", "__import__", "eval", "exec")
_GETATTR = "getattr"  # finds members alone, by its second argument


class Given(Results):
    """`super()` gives a parent, `C.__new__(C)` an instance, `list(x)` its argument."""

    def given(
        self,
        machine: Machine,
        place: ScopeRef,
        function: Expression,
        arguments: Sequence[Expression],
    ) -> Values:
        if function == "super" and (above := parents(machine, place, arguments)):
            return above
        if arguments and last_name(function) == ALLOCATOR:
            return machine.instances(machine.evaluate(place, arguments[0]))
        functions = machine.evaluate(place, function)
        known = given(machine, place, functions, arguments) if arguments else None
        return machine.called(functions) if known is None else known

    def returned(self, machine: Machine, file: FileSymbols, number: int) -> Values:
        """Return both the results of a body and its annotated type, which nothing enforces."""
        return of_body(machine, file, number)


class Runs(Targets):
    """A call of a class runs `__new__` and `__init__`; properties run where they are used."""

    def constructors(self, machine: Machine, value: Value) -> Values:
        names = (CONSTRUCTOR, ALLOCATOR)
        return union(machine.classes.inherited(value, name) for name in names)

    def is_declared_only(self, file: FileSymbols, number: int) -> bool:
        scope = file.scope(number)
        outer = file.scope(max(scope.parent, 0))
        names = {last_name(each) for each in (*scope.decorators, *outer.bases)}
        return not names.isdisjoint(_ABSTRACT)

    def use(self, file: FileSymbols, number: int) -> Use | None:
        if not GETTERS.isdisjoint(file.marks(number)):
            return Use.READ
        if any(mark.endswith(SETTER) for mark in file.marks(number)):
            return Use.ASSIGNED
        return Use.ANY_ASSIGNED if file.scope(number).name == SETTING else None

    def is_implicit(self, name: str) -> bool:
        return name in _BY_BUILTINS

    def unseen(self, file: FileSymbols, number: int, *, is_used: bool) -> Iterator[str]:
        """Yield operators that run a method, and decorators that may call a function later."""
        scope = file.scope(number)
        is_special = scope.name.startswith("__") and scope.name.endswith("__")
        if is_special and scope.name not in _FOLLOWED:
            yield "run by operators or the language itself"
        for each in scope.decorators:
            if last_name(each) not in _PLAIN:
                yield f"decorated by {last_name(each) or 'an expression'}"

    def lookup(self, file: FileSymbols, *, members: bool) -> tuple[int, str] | None:
        for name in (_GETATTR, *_LOOKUPS) if members else _LOOKUPS:
            for number in file.calls.get(name, ()):
                call = file.table.calls[number]
                arguments = call.arguments[1:] if name == _GETATTR else call.arguments
                if arguments and arguments[0]:
                    return call.line, name
        return None
