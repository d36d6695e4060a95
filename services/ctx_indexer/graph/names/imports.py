"""What imports bind: modules that are files, paths in a tree of modules, names of packages."""

from typing import TYPE_CHECKING

from ctx_indexer.graph.files import FileSymbols
from ctx_indexer.graph.names.modules import (
    javascript_files,
    python_files,
    rust_crates,
    rust_parent,
    rust_roots,
    rust_submodule,
)
from ctx_indexer.graph.rules import Names
from ctx_indexer.graph.values import (
    BUILTINS,
    DEFINITION,
    FILE,
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
    union,
)
from ctx_indexer.syntax.symbols.spec import DEFAULT, SUBMODULE
from ctx_indexer.syntax.symbols.table import FILE_SCOPE, MODULE, WHOLE_MODULE, Import

if TYPE_CHECKING:
    from ctx_indexer.graph.resolver import Resolver

EXPORTS = "module.exports"  # what a file of Node.js gives as a whole
_EXPORTED = ("exports.", "module.exports.")


class Imports:
    """Resolves imports."""

    def __init__(self, resolver: "Resolver") -> None:
        self._resolver = resolver
        self._crates: dict[tuple[str, str], Values] = {}  # by the folder that names them

    def exported(self, importer: str, each: Import, name: str) -> Values:
        """Return what the module of an import binds a name to."""
        file = self._resolver.tables.file(importer)
        return (self.starred(file, each, name) if file else None) or NOTHING

    def starred(self, file: FileSymbols, each: Import, name: str) -> Values | None:
        """Return what an import of every name brings under a name; None where it does not."""
        if file.rules.names is Names.FILES:
            module = self.module(file, each.module)
            return self.member(module, name) if module else None
        if file.rules.names is Names.MODULES:
            values = self._in_module(self._path(file, each), name)
            return values or None
        return self._resolver.packages.member(file, each.module, name)

    def imported(self, importer: str, each: Import) -> Values:
        """Return what an import binds its name to."""
        file = self._resolver.tables.file(importer)
        if file is None:
            return UNRESOLVED_VALUES
        if file.rules.names is Names.MODULES:
            return self._imported_path(file, each)
        if file.rules.names is not Names.FILES:
            return self._resolver.packages.imported(file, each)
        module = self.module(file, each.module)
        if each.name == WHOLE_MODULE:
            return _file_value(module) if module else external(each.module)
        values = self.member(module, each.name) if module else None
        if values is not None:
            return values
        inner = self.module(file, _joined(each.module, each.name))
        if inner is not None:
            return _file_value(inner)
        if module is not None:
            return UNRESOLVED_VALUES
        return external(_joined(each.module, each.name))

    def module(self, importer: FileSymbols, module: str) -> FileSymbols | None:
        """Return the file that a module's name means."""
        is_python = importer.rules.explicit_self
        for path in (python_files if is_python else javascript_files)(importer.path, module):
            if file := self._resolver.tables.file(path):
                return file
        return None

    def member(self, file: FileSymbols, name: str) -> Values | None:
        """Return what a file binds a name to; None where it does not."""
        resolver = self._resolver
        with resolver.entered(("member", file.path, name)) as entered:
            if not entered:
                return NOTHING
            values = self._given(file, name)
            if values is None:
                values = resolver.bound(file, FILE_SCOPE, name)
            if values is not None:
                return values
            for each in file.star_imports:
                values = self.starred(file, each, name)
                if values is not None:
                    return values
            if file.path.endswith("/__init__.py"):
                inner = self.module(file, f".{name}")
                if inner is not None:
                    return _file_value(inner)
        return None

    def _given(self, file: FileSymbols, name: str) -> Values | None:
        """Return what a file of Node.js exports under a name."""
        found = [
            self._resolver.binding(file.path, binding)
            for prefix in _EXPORTED
            for binding in file.dotted.get(prefix + name, ())
        ]
        if found:
            return union(found)
        whole = self.whole(file)
        if whole is None:
            return None
        values = whole if name == DEFAULT else self._resolver.attribute(whole, name)
        return values if any(value.kind == DEFINITION for value in values) else None

    def whole(self, file: FileSymbols) -> Values | None:
        """Return what a file of Node.js gives as a whole; None where it does not say so."""
        bindings = file.dotted.get(EXPORTS)
        if not bindings:
            return None
        return union(self._resolver.binding(file.path, binding) for binding in bindings)

    # Paths of modules, as Rust has them

    def _imported_path(self, file: FileSymbols, each: Import) -> Values:
        if each.module.startswith(SUBMODULE):
            for path in rust_submodule(file.path, each.module.removeprefix(SUBMODULE)):
                if found := self._resolver.tables.file(path):
                    return _file_value(found)
            return external(each.alias)
        if not each.module:
            return self._resolver.name(ScopeRef(file.path, each.scope), each.name)
        return self._in_module(self._path(file, each), each.name) or external(
            f"{each.module}.{each.name}"
        )

    def _path(self, file: FileSymbols, each: Import) -> Values:
        values = self._resolver.evaluate(ScopeRef(file.path, each.scope), each.module)
        if each.module and "." not in each.module:
            return self.or_crate(file, each.module, values)
        return values

    def or_crate(self, file: FileSymbols, name: str, values: Values) -> Values:
        """Return the crate of the workspace that a name means which nothing binds, else values."""
        if file.rules.names is not Names.MODULES or values != external(f"{BUILTINS}.{name}"):
            return values
        key = file.path.rpartition("/")[0], name
        if key not in self._crates:
            found = (self._resolver.tables.file(path) for path in rust_crates(file.path, name))
            crate = next((_file_value(each) for each in found if each), NOTHING)
            if not crate:
                return values  # or it is not loaded yet
            self._crates[key] = crate
        return self._crates[key]

    def _in_module(self, modules: Values, name: str) -> Values:
        return frozenset(
            value
            for value in self._resolver.attribute(modules, name)
            if value.kind in (DEFINITION, FILE)
        )

    def path_word(self, file: FileSymbols, place: ScopeRef, word: str) -> Values | None:
        """Return the module that `self`, `super` or `crate` means at a place."""
        number = place.scope
        while number > 0 and file.scope(number).kind != MODULE:
            number = file.scope(number).parent
        if word == "self":
            return _module_value(file, number)
        if word == "super" and number:
            number = file.scope(number).parent
            while number > 0 and file.scope(number).kind != MODULE:
                number = file.scope(number).parent
            return _module_value(file, number)
        for path in rust_parent(file.path) if word == "super" else rust_roots(file.path):
            is_other = path != file.path or word == "crate"
            if is_other and (found := self._resolver.tables.file(path)):
                return _file_value(found)
        return UNRESOLVED_VALUES


def _module_value(file: FileSymbols, number: int) -> Values:
    if number == FILE_SCOPE:
        return _file_value(file)
    return frozenset([Value(DEFINITION, file.path, number)])


def _file_value(file: FileSymbols) -> Values:
    return frozenset([Value(FILE, file.path)])


def _joined(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
