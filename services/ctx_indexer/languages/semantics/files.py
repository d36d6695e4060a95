"""A symbol table with the indexes that a resolver looks names up in, each built once."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from ctx_indexer.languages.semantics.definitions import Definitions, Receiver
from ctx_indexer.syntax.symbols.table import (
    ASSIGNED,
    CLASS,
    EITHER,
    EVERY_NAME,
    EXTENSION,
    ITEM,
    Binding,
    Call,
    Expression,
    Import,
    Read,
    inner_names,
    last_name,
)

_NAME = re.compile(r"(\w+)(?![\w.])")  # the last of a dotted name
SETTING = "__setattr__"  # the method that runs where any attribute is assigned


class FileSymbols(Definitions):
    """The symbols of one file: its definitions, and how its code uses names."""

    @cached_property
    def dotted(self) -> dict[str, list[Binding]]:
        """Assignments to dotted names, by the whole name: `app.get = f` → `app.get`."""
        found: dict[str, list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and "." in binding.target:
                found[binding.target].append(binding)
        return found

    @cached_property
    def items(self) -> dict[str, list[Binding]]:
        """Assignments to items of a container, by its dotted name: `self.xs[0] = x` → `self.xs`."""
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
        """Assignments to attributes of the own instance, by class and name: `self.x = …`."""
        found: dict[tuple[int, str], list[Binding]] = defaultdict(list)
        for binding in self.table.bindings:
            if isinstance(binding.target, str) and binding.target.count(".") == 1:
                owner, name = binding.target.split(".")
                receiver = self.receiver(binding.scope)
                if receiver is not None and self._is_instance(receiver, owner):
                    found[receiver.scope, name].append(binding)
        return found

    def inheriting(self, name: str) -> Iterator[int]:
        """Yield the classes and blocks whose base has a name, or an alias of it in the file.

        `Cart` → `class B(Cart)`, and `class B(C)` after `import Cart as C`.
        """
        found = {number for each in self.aliases(name) for number in self._inheriting.get(each, ())}
        yield from sorted(found)

    @cached_property
    def _inheriting(self) -> dict[str, list[int]]:
        """Classes and blocks by the last names of their bases."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, scope in enumerate(self.table.scopes):
            if scope.kind in (CLASS, EXTENSION):
                for base in scope.bases:
                    found[last_name(base)].append(number)
        return found

    def classes_with(self, name: str) -> Sequence[int]:
        """Return the classes that have a member of a name themselves, not by inheritance."""
        return self._members.get(name, ())

    @cached_property
    def _members(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, name in {**self.bindings, **self.attributes}:
            if number >= 0 and self.scope(number).kind == CLASS:
                found[name].append(number)
        return found

    def _is_instance(self, receiver: Receiver, name: str) -> bool:
        return name == receiver.name or name in self.words.instance

    @cached_property
    def results(self) -> dict[int, list[Expression]]:
        """The expressions that functions return, by scope."""
        found: dict[int, list[Expression]] = defaultdict(list)
        for each in self.table.results:
            found[each.scope].append(each.value)
        return found

    @cached_property
    def calls(self) -> dict[str, list[int]]:
        """The numbers of calls by the last name of the called expression: `a.add()` → `add`."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, function in enumerate(self.table.called()):
            found[last_name(function)].append(number)
        return found

    def uses(self, name: str) -> Iterator[Read]:
        """Yield where an attribute of a name is read or assigned, as `total` in `a.total.add()`."""
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
        """Return the names that the file may give something: `import f as g`, `g = f` → f, g."""
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
        """The last names of arguments, results and assigned values: `run(a.f)` → `f`."""
        held = [each.value for each in self.table.bindings]
        held += [each.value for each in self.table.results]
        texts = [*self.table.given(), *map(str, held)]
        return frozenset(name for text in texts for name in _NAME.findall(text))

    @cached_property
    def _renamed(self) -> Sequence[tuple[str, str]]:
        """The last names of targets and values of assignments: `self.a = b.c` → `a`, `c`."""
        pairs = (
            (last_name(each.target), last_name(value))
            for each in self.table.bindings
            for value in _choices(each.value)
        )
        return [pair for pair in pairs if all(pair)]


def _choices(value: Expression) -> Sequence[Expression]:
    """Return the expressions that a value may be: `a or b` → `a`, `b`."""
    return value[1:] if isinstance(value, list) and value[0] == EITHER else [value]
