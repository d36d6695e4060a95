"""Question 1: which names does a file see that it does not bind itself?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    FILE,
    NOTHING,
    PACKAGE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import EVERY_NAME, FILE_SCOPE, LOCAL, WHOLE_MODULE, Import


@dataclass(frozen=True)
class Visible:
    """By default a file sees every name that any file of its languages defines.

    `helper()` → `def helper` of `lib/helper.rb`, wherever that file lies.
    """

    relatives: frozenset[str] = frozenset()  # languages whose files see each other: Java, Kotlin

    # Names of no scope

    def outside(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str, *, is_open: bool
    ) -> Values:
        """Look up a name that no scope of its file binds; `is_open` classes may have it, too."""
        if (values := self.seen(machine, file, place, name)) is not None:
            return values
        if is_open:
            return UNRESOLVED_VALUES
        return self.unbound(file, name)

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        """Return a name of other files; None where none defines it."""
        found = union(
            self.of_file(machine, file, other, number, name)
            for other in self.definers(machine, file, name)
            for number in other.top_level.get(name, ())
        )
        return self.declared_once(machine, file, found) if found else None

    def unbound(self, file: FileSymbols, name: str) -> Values:
        """Return a name that no file defines: `print` → `builtins.print`."""
        return external(f"{BUILTINS}.{name}")

    def is_brought(self, values: Values, name: str) -> bool:
        """Whether macros or mixins may bring a name that stands for these values."""
        return False

    # Imports

    def imported(self, machine: Machine, file: FileSymbols, each: Import) -> Values:
        """Return the values that an import binds its name to."""
        if each.name in (WHOLE_MODULE, EVERY_NAME):
            return NOTHING
        found = self.member(machine, file, each.module, each.name)
        if found:
            return found
        outer, _, last = each.module.rpartition(".")
        if last[:1].isupper() and (classes := self.member(machine, file, outer, last)):
            return machine.attribute(classes, each.name)
        return self.unknown(file, each)

    def unknown(self, file: FileSymbols, each: Import) -> Values:
        """Return an import that no file defines: a class where it is capitalised, else a package.

        `java.util.List` → a class of another repository, `java.util` → a package.
        """
        if each.name[:1].isupper():
            return external(f"{each.module}.{each.name}")
        return frozenset([Value(PACKAGE, name=f"{each.module}.{each.name}", path=file.path)])

    def starred(
        self, machine: Machine, file: FileSymbols, each: Import, name: str
    ) -> Values | None:
        """Return a name that an import of every name brings; None where it brings none."""
        return self.member(machine, file, each.module, name)

    def carries(
        self, machine: Machine, file: FileSymbols, each: Import, target: Value, name: str
    ) -> bool:
        """Whether an import of a package brings a definition: `import "shop"` → `shop.Cart`."""
        return False

    def is_imported(self, file: FileSymbols, number: int) -> bool:
        """Whether imports may name a definition: a function, and no method in Python."""
        return True

    def may_mean(self, module: str, path: str) -> bool:
        """Whether a module that no file was found for may be a file, by its name alone."""
        return False

    # Files and packages as values

    def exported(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return the values that a file binds a name to; None where it binds none."""
        with machine.entered(("member", file.path, name)) as entered:
            if not entered:
                return NOTHING
            values = self.given(machine, file, name)
            if values is None:
                values = machine.bound(file, FILE_SCOPE, name)
            if values is not None:
                return values
            values = self.from_stars(machine, file, name)
            return self.inner(machine, file, name) if values is None else values

    def from_stars(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return a name that the first import of all names which has it brings to a file."""
        for each in file.star_imports:
            values = self.starred(machine, file, each, name)
            if values is not None:
                return values
        return None

    def given(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return a name that a file exports by an assignment: `exports.name = …` of Node.js."""
        return None

    def inner(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return the module of a name in the package that a file is: `cart` of `shop/__init__`."""
        return None

    def whole(self, machine: Machine, file: FileSymbols) -> Values | None:
        """Return the value that stands for a file: `module.exports = f`; None without one."""
        return None

    def attribute(self, machine: Machine, file: FileSymbols, package: Value, name: str) -> Values:
        """Return a member of a package, which may be a package: `java.util` of `java`."""
        found = self.member(machine, file, package.name, name)
        if found:
            return found
        return frozenset([package._replace(name=f"{package.name}.{name}")])

    def member(self, machine: Machine, file: FileSymbols, package: str, name: str) -> Values | None:
        """Return the values that a package gives a name; None where no file of it binds one."""
        values = union(
            self.of_file(machine, file, other, number, name)
            for other in self.definers(machine, file, name)
            for number in other.top_level.get(name, ())
            if self.package(other, number) == package
        )
        return self.declared_once(machine, file, values) if values else None

    # Steps

    def package(self, file: FileSymbols, number: int) -> str:
        """Return the package that a scope is in."""
        return file.package_of(number)

    def definers(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        """Return the files that define a name, in the language of a file or a relative of it."""
        languages = {file.table.language, *self.relatives}
        found = machine.definers(name)
        return [other for other in found if other.table.language in languages]

    def of_file(
        self, machine: Machine, file: FileSymbols, other: FileSymbols, number: int, name: str
    ) -> Values:
        """Return the values of a name in a scope of `other` that `file` sees: no local ones."""
        values = machine.bound(other, number, name) or NOTHING
        return frozenset(value for value in values if not self._is_local(machine, value))

    def _is_local(self, machine: Machine, value: Value) -> bool:
        file = machine.file(value.path) if value.kind == DEFINITION else None
        return file is not None and self.is_local(file, value.scope)

    def is_local(self, file: FileSymbols, number: int) -> bool:
        """Whether other files cannot see a definition: `static void f()` of C."""
        return LOCAL in file.scope(number).marks

    def declared_once(self, machine: Machine, file: FileSymbols, values: Values) -> Values:
        """Choose among the definitions that several files have of one name: by default all."""
        return values


@dataclass(frozen=True)
class Packages(Visible):
    """A file sees the names of the package that it declares, and the names that it imports.

    `package shop; … new Cart()` → `class Cart` of any file that begins with `package shop;`.
    """

    nested: bool = False  # whether `shop.cart` sees the names of `shop`, too

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        for package in self._enclosing(file, place.scope):
            if found := self.member(machine, file, package, name):
                return found
        for each in file.star_imports:
            if found := self._in_import(machine, file, each, name):
                return found
        return None

    def unbound(self, file: FileSymbols, name: str) -> Values:
        """Return a package for the first part of its name, `shop` of `shop.cart`; else outside."""
        if self.is_package(file, name):
            return frozenset([Value(PACKAGE, name=name, path=file.path)])
        return super().unbound(file, name)

    def is_package(self, file: FileSymbols, name: str) -> bool:
        """Whether a name is the first part of a package that a file imports or declares."""
        firsts = {each.module.partition(".")[0] for each in file.table.imports}
        firsts |= {file.package_of(number).partition(".")[0] for number in file.namespaces}
        return name in firsts

    def _enclosing(self, file: FileSymbols, number: int) -> Iterator[str]:
        """Yield the packages whose names a scope sees, the innermost first."""
        package = file.package_of(number)
        yield package
        while package and self.nested:
            package = package.rpartition(".")[0]
            yield package

    def _in_import(
        self, machine: Machine, file: FileSymbols, each: Import, name: str
    ) -> Values | None:
        """Return a name of an imported package, or of a class: `import static shop.Cart.*`."""
        found = self.member(machine, file, each.module, name)
        if found:
            return found
        outer, _, last = each.module.rpartition(".")
        classes = self.member(machine, file, outer, last) if last[:1].isupper() else None
        if not classes:
            return None
        members = machine.attribute(classes, name)
        return members if any(value.kind == DEFINITION for value in members) else None


def file_value(file: FileSymbols) -> Values:
    """Return a file as a value."""
    return frozenset([Value(FILE, file.path)])
