"""The modules of Swift: targets of a package, each a folder of `Sources`, `Tests` or `Plugins`."""

from itertools import pairwise
from pathlib import PurePosixPath

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    EXTERNAL,
    LITERAL_VALUE,
    NOTHING,
    PACKAGE,
    ScopeRef,
    Value,
    Values,
    union,
)
from ctx_indexer.languages.semantics.visible import Visible

_FOLDERS = frozenset(["Sources", "Tests", "Plugins"])
_BARE = 1  # dots in the name of a function from outside: `builtins.print`


def module_of(path: str) -> str:
    """Return the module that the folders of a path name: `Sources/Shop/Cart.swift` → Shop."""
    folders = PurePosixPath(path).parts[:-1]
    inner = (name for outer, name in pairwise(folders) if outer in _FOLDERS)
    return next(inner, "")


class Modules(Visible):
    """A file sees its module, then the modules that it imports.

    A name of neither is looked for in every file: `Package.swift` may place a module anywhere.
    """

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        own, imported = module_of(file.path), {each.module for each in file.star_imports}
        near: list[Values] = []
        brought: list[Values] = []
        far: list[Values] = []
        for other in self.definers(machine, file, name):
            module = module_of(other.path)
            group = near if module == own else brought if module in imported else far
            group += [
                self.of_file(machine, file, other, number, name)
                for number in other.top_level.get(name, ())
            ]
        return next((values for group in (near, brought, far) if (values := union(group))), None)

    def unbound(self, file: FileSymbols, name: str) -> Values:
        """Return a module for its name: `Shop` of `Shop.Cart()`."""
        modules = {module_of(file.path), *(each.module for each in file.star_imports)}
        if name in modules:
            return frozenset([Value(PACKAGE, file.path, name=name)])
        return super().unbound(file, name)

    def is_brought(self, values: Values, name: str) -> bool:
        """Whether a member of a type from outside may be one that an extension adds.

        `names.first?.slug()` → `slug` of `extension Collection`.
        """
        return any(
            each.kind == LITERAL_VALUE or (each.kind == EXTERNAL and each.name.count(".") > _BARE)
            for each in values
        )

    def of_file(
        self, machine: Machine, file: FileSymbols, other: FileSymbols, number: int, name: str
    ) -> Values:
        """Return the names of another file that are not private to it."""
        if other.path == file.path:
            return machine.bound(other, number, name) or NOTHING
        return super().of_file(machine, file, other, number, name)

    def package(self, file: FileSymbols, number: int) -> str:
        return module_of(file.path)
