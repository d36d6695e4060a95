"""Names that a file knows without importing their file: of its package, folder or program."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.native.includes import Includers
from ctx_indexer.graph.rules import Names, Rules, rules_of
from ctx_indexer.graph.values import (
    DEFINITION,
    EXTERNAL,
    NOTHING,
    PACKAGE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.table import (
    CLASS,
    EVERY_NAME,
    FILE_SCOPE,
    WHOLE_MODULE,
    Import,
)

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")  # their types are seen in themselves alone
_VERSION = re.compile(r"/v\d+$")  # of a module of Go, the last part of its path
# The first parts of the import paths of Go's library; those of modules have a host, mostly.
_GO_LIBRARY = frozenset(
    "archive bufio bytes cmp compress container context crypto database debug embed encoding errors"
    " expvar flag fmt go hash html image index io iter log maps math mime net os path plugin"
    " reflect regexp runtime slices sort strconv strings structs sync syscall testing text time"
    " unicode unique unsafe".split()
)
_TESTS = "_test"  # ends the name of a package that nothing imports
_FAMILIES = {"c": "c", "cpp": "c", "java": "jvm", "kotlin": "jvm"}


class Packages:
    """Looks names up in packages."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self._includers = Includers(resolver)

    def visible(self, file: FileSymbols, place: ScopeRef, name: str) -> Values | None:
        """Return what a name stands for that no scope of the file binds; None for nothing."""
        rules = rules_of(file.table.language)
        if rules.names in (Names.FILES, Names.MODULES):
            return None
        if rules.names is Names.FOLDERS:
            own = self.member(file, self._package(file, FILE_SCOPE), name)
            return own or self._starred(file, name)
        if rules.names is Names.PROGRAM:
            return self._of_program(file, name)
        for package in self._enclosing(file, place.scope, rules):
            if found := self.member(file, package, name):
                return found
        for each in file.star_imports:
            if found := self._in_import(file, each, name):
                return found
        return None

    def _starred(self, file: FileSymbols, name: str) -> Values | None:
        """Return what an import of all names of a folder brings; None where it does not."""
        for each in file.star_imports:
            values = self._of_folder(file, each.module, name)
            if any(value.kind != EXTERNAL for value in values):
                return values
        return None

    def _in_import(self, file: FileSymbols, each: Import, name: str) -> Values | None:
        found = self.member(file, each.module, name)
        if found:
            return found
        outer, _, last = each.module.rpartition(".")
        classes = self.member(file, outer, last) if last[:1].isupper() else None
        if not classes:
            return None
        members = self._resolver.attribute(classes, name)
        return members if any(value.kind == DEFINITION for value in members) else None

    def _enclosing(self, file: FileSymbols, number: int, rules: Rules) -> Iterator[str]:
        """Yield the packages around a scope, the innermost first."""
        package = file.package_of(number)
        yield package
        if rules.globals_last or file.table.language == "csharp":
            while package:
                package = package.rpartition(".")[0]
                yield package

    def member(self, file: FileSymbols, package: str, name: str) -> Values | None:
        """Return what a package defines under a name; None where it does not."""
        found = [
            self._seen(file, other, number, name)
            for other in self._definers(file, name)
            for number in other.top_level.get(name, ())
            if self._package(other, number) == package
        ]
        values = union(found)
        if file.rules.twins:  # what is inside of a namespace depends on who looks
            values = frozenset(
                value._replace(path=file.path) if value.kind == PACKAGE else value
                for value in values
            )
        return self._declared_once(file, values) if values else None

    def _seen(self, file: FileSymbols, other: FileSymbols, number: int, name: str) -> Values:
        """Return what a file sees of the names that another, or it itself, binds."""
        if file.rules.static:
            bound = other.bindings.get((number, name), ())
            return union(self._resolver.binding(other.path, each) for each in bound)
        values = self._resolver.bound(other, number, name) or NOTHING
        if other is file and file.rules.twins:
            return values
        return frozenset(value for value in values if not self._is_local(value))

    def _is_local(self, value: Value) -> bool:
        file = self._resolver.tables.file(value.path) if value.kind == DEFINITION else None
        if file is None:
            return False
        is_class = file.rules.twins and file.scope(value.scope).kind == CLASS
        return file.is_local(value.scope) or (is_class and file.path.endswith(_SOURCES))

    def _package(self, file: FileSymbols, number: int) -> str:
        if rules_of(file.table.language).names is Names.FOLDERS:
            return f"{PurePosixPath(file.path).parent} {file.table.package}"
        return file.package_of(number)

    def _definers(self, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        family = _family(file)
        return [other for other in self._resolver.tables.definers(name) if _family(other) == family]

    def _of_program(self, file: FileSymbols, name: str) -> Values | None:
        """Return what any file defines, in a language with one space of names."""
        found = union(
            self._seen(file, other, number, name)
            for other in self._definers(file, name)
            for number in other.top_level.get(name, ())
        )
        return self._declared_once(file, found) if found else None

    def _declared_once(self, file: FileSymbols, values: Values) -> Values:
        """Choose among definitions in several files of a C program: by what the file includes."""
        paths = {value.path for value in values if value.kind == DEFINITION}
        if _family(file) != "c" or len(paths) < 2:
            return values
        if file.path in paths and file.rules.names is Names.PACKAGES:
            return frozenset(value for value in values if value.path == file.path)
        stems = {PurePosixPath(each.module).stem for each in file.table.imports}
        near = {path for path in paths if PurePosixPath(path).stem in stems}
        near = near or {path for path in paths if self._includers.reaches(file.path, path)}
        near = near or {
            p for p in paths if PurePosixPath(p).parent == PurePosixPath(file.path).parent
        }
        if len(near) != 1:
            return UNRESOLVED_VALUES
        return frozenset(value for value in values if value.path in near)

    # Imports

    def imported(self, file: FileSymbols, each: Import) -> Values:
        """Return what an import of a package's name binds."""
        names = rules_of(file.table.language).names
        if names is Names.FOLDERS:
            return frozenset([Value(PACKAGE, name=each.module, path=file.path)])
        if each.name in (WHOLE_MODULE, EVERY_NAME):
            return NOTHING
        found = self.member(file, each.module, each.name)
        if found:
            return found
        outer, _, last = each.module.rpartition(".")
        if last[:1].isupper() and (classes := self.member(file, outer, last)):
            return self._resolver.attribute(classes, each.name)
        if each.name[:1].isupper() and file.table.language != "php":
            return external(f"{each.module}.{each.name}")
        return frozenset([Value(PACKAGE, name=f"{each.module}.{each.name}", path=file.path)])

    def attribute(self, value: Value, name: str) -> Values:
        """Return a member of a package, which may be a package."""
        file = self._resolver.tables.file(value.path)
        if file is None:
            return UNRESOLVED_VALUES
        if rules_of(file.table.language).names is Names.FOLDERS:
            return self._of_folder(file, value.name, name)
        found = self.member(file, value.name, name)
        if found:
            return found
        return frozenset([value._replace(name=f"{value.name}.{name}")])

    def _of_folder(self, file: FileSymbols, imported: str, name: str) -> Values:
        """Return a name of the folder that an import path ends in, the longest one."""
        best: list[tuple[int, Values]] = []
        if imported.partition("/")[0] in _GO_LIBRARY:
            return external(f"{imported}.{name}")
        for other in self._definers(file, name):
            folder = str(PurePosixPath(other.path).parent)
            if other.table.package.endswith(_TESTS):
                continue
            if f"/{imported}".endswith(f"/{folder}") or _is_root(other, imported):
                found = union(
                    self._seen(file, other, number, name)
                    for number in other.top_level.get(name, ())
                )
                best.append((len(folder), found))
        if not best:
            return external(f"{imported}.{name}")
        longest = max(length for length, _ in best)
        return union(found for length, found in best if length == longest)

    def fallback(self, file: FileSymbols, name: str) -> Values:
        """Return a name that nothing binds: the start of a package's name, or what is outside."""
        firsts = {each.module.partition(".")[0] for each in file.table.imports}
        firsts |= {file.package_of(number).partition(".")[0] for number in file.namespaces}
        is_package = name in firsts or (file.table.language == "cpp" and name != "std")
        if rules_of(file.table.language).names is Names.PACKAGES and is_package:
            return frozenset([Value(PACKAGE, name=name, path=file.path)])
        return NOTHING


def _is_root(file: FileSymbols, imported: str) -> bool:
    """Whether an import path ends in the package of a file in the root folder, or its version."""
    return "/" not in file.path and file.table.package == _VERSION.sub("", imported).split("/")[-1]


def _family(file: FileSymbols) -> str:
    return _FAMILIES.get(file.table.language, file.table.language)
