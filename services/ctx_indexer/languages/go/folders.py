"""Packages of Go: the files of a folder see one another, and imports name folders."""

import re
from pathlib import PurePosixPath

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    EXTERNAL,
    PACKAGE,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.languages.semantics.visible import Visible
from ctx_indexer.syntax.symbols.table import FILE_SCOPE, Import

_VERSION = re.compile(r"/v\d+$")  # ends the path of a module: `example.com/shop/v2`
# The first parts of the import paths of the library; most other paths begin with a host.
_LIBRARY = frozenset(
    "archive bufio bytes cmp compress container context crypto database debug embed encoding errors"
    " expvar flag fmt go hash html image index io iter log maps math mime net os path plugin"
    " reflect regexp runtime slices sort strconv strings structs sync syscall testing text time"
    " unicode unique unsafe".split()
)
_TESTS = "_test"  # ends the name of a package that nothing imports


class Folders(Visible):
    """A file sees the names of the files beside it: `cart.go` sees `Total` of `total.go`."""

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        own = self.member(machine, file, self.package(file, FILE_SCOPE), name)
        return own or self._starred(machine, file, name)

    def _starred(self, machine: Machine, file: FileSymbols, name: str) -> Values | None:
        """Return a name that an import of all names of a folder brings: `import . "shop"`."""
        for each in file.star_imports:
            values = self._of_folder(machine, file, each.module, name)
            if any(value.kind != EXTERNAL for value in values):
                return values
        return None

    def package(self, file: FileSymbols, number: int) -> str:
        return f"{PurePosixPath(file.path).parent} {file.table.package}"

    def of_file(
        self, machine: Machine, file: FileSymbols, other: FileSymbols, number: int, name: str
    ) -> Values:
        """Return every value that a file binds a name to: no name is local to a file of Go."""
        bound = other.bindings.get((number, name), ())
        return union(machine.binding(other.path, each) for each in bound)

    def imported(self, machine: Machine, file: FileSymbols, each: Import) -> Values:
        return frozenset([Value(PACKAGE, name=each.module, path=file.path)])

    def carries(
        self, machine: Machine, file: FileSymbols, each: Import, target: Value, name: str
    ) -> bool:
        return target in machine.attribute(self.imported(machine, file, each), name)

    def attribute(self, machine: Machine, file: FileSymbols, package: Value, name: str) -> Values:
        return self._of_folder(machine, file, package.name, name)

    def _of_folder(self, machine: Machine, file: FileSymbols, imported: str, name: str) -> Values:
        """Return a name of the longest folder that an import path ends in.

        `example.com/shop/cart` → a name of the folder `shop/cart`, else of `cart`.
        """
        best: list[tuple[int, Values]] = []
        if imported.partition("/")[0] in _LIBRARY:
            return external(f"{imported}.{name}")
        for other in self.definers(machine, file, name):
            folder = str(PurePosixPath(other.path).parent)
            if other.table.package.endswith(_TESTS):
                continue
            if f"/{imported}".endswith(f"/{folder}") or _is_root(other, imported):
                found = union(
                    self.of_file(machine, file, other, number, name)
                    for number in other.top_level.get(name, ())
                )
                best.append((len(folder), found))
        if not best:
            return external(f"{imported}.{name}")
        longest = max(length for length, _ in best)
        return union(found for length, found in best if length == longest)


def _is_root(file: FileSymbols, imported: str) -> bool:
    """Whether an import path names the root folder, by the package of a file there.

    `example.com/shop/v2` → a file `cart.go` in the root that begins with `package shop`.
    """
    return "/" not in file.path and file.table.package == _VERSION.sub("", imported).split("/")[-1]
