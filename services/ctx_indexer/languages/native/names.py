"""Names of C and C++: headers choose among definitions, a declaration may hide its own type."""

from pathlib import PurePosixPath

from ctx_indexer.languages.native.includes import HEADERS, Includers
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.names import MemberNames, Names, namespace
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    NOTHING,
    PACKAGE,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
)
from ctx_indexer.languages.semantics.visible import Packages, Visible
from ctx_indexer.syntax.symbols.table import CLASS, HELD, LOCAL, TYPED, Binding

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")  # no other file sees their types
_LIBRARY = "std"


class Program(Visible):
    """A file of C sees the functions of all files; of two of one name, that of an included file."""

    def of_file(
        self, machine: Machine, file: FileSymbols, other: FileSymbols, number: int, name: str
    ) -> Values:
        if other is file:
            return machine.bound(other, number, name) or NOTHING
        return super().of_file(machine, file, other, number, name)

    def is_local(self, file: FileSymbols, number: int) -> bool:
        return _is_local(file, number)

    def declared_once(self, machine: Machine, file: FileSymbols, values: Values) -> Values:
        return _nearest(machine, file, values)


class Namespaces(Packages):
    """A file of C++ sees the namespaces around its code, as far as headers are included."""

    def of_file(
        self, machine: Machine, file: FileSymbols, other: FileSymbols, number: int, name: str
    ) -> Values:
        """Return a name of a scope as `file` sees it, which reads namespaces by its includes."""
        if other is file:
            values = machine.bound(other, number, name) or NOTHING
        else:
            values = super().of_file(machine, file, other, number, name)
        return frozenset(
            value._replace(path=file.path) if value.kind == PACKAGE else value for value in values
        )

    def is_local(self, file: FileSymbols, number: int) -> bool:
        return _is_local(file, number)

    def declared_once(self, machine: Machine, file: FileSymbols, values: Values) -> Values:
        if any(value.kind == DEFINITION and value.path == file.path for value in values):
            paths = {value.path for value in values if value.kind == DEFINITION}
            return values if len(paths) < 2 else _of_paths(values, {file.path})
        return _nearest(machine, file, values)

    def is_package(self, file: FileSymbols, name: str) -> bool:
        return name != _LIBRARY or super().is_package(file, name)

    def is_brought(self, values: Values, name: str) -> bool:
        """Whether a macro may define a name that nothing shows."""
        unbound = f"{BUILTINS}.{name}"
        return any(value.kind == PACKAGE or value.name == unbound for value in values)


def _is_local(file: FileSymbols, number: int) -> bool:
    """Whether other files cannot see a function that is `static`, or a class of a source."""
    scope = file.scope(number)
    is_static = LOCAL in scope.marks and not file.path.endswith(HEADERS)
    return is_static or (scope.kind == CLASS and file.path.endswith(_SOURCES))


def _nearest(machine: Machine, file: FileSymbols, values: Values) -> Values:
    """Choose among the definitions of several files: of an included file, or of the own folder.

    Where no rule leaves one file, the value is unknown.
    """
    paths = {value.path for value in values if value.kind == DEFINITION}
    if len(paths) < 2:
        return values
    stems = {PurePosixPath(each.module).stem for each in file.table.imports}
    near = {path for path in paths if PurePosixPath(path).stem in stems}
    near = near or {path for path in paths if Includers(machine).reaches(file.path, path)}
    near = near or {p for p in paths if PurePosixPath(p).parent == PurePosixPath(file.path).parent}
    return _of_paths(values, near) if len(near) == 1 else UNRESOLVED_VALUES


def _of_paths(values: Values, paths: set[str]) -> Values:
    return frozenset(value for value in values if value.path in paths)


def _outside(file: FileSymbols, binding: Binding) -> ScopeRef:
    """Return the scope of a binding's type: the one around `log::Log log`, which hides `log`."""
    place = ScopeRef(file.path, binding.scope)
    if binding.how not in (TYPED, HELD) or not isinstance(binding.value, str):
        return place
    is_hidden = binding.value.partition(".")[0] == binding.target and binding.scope > 0
    return ScopeRef(file.path, file.scope(binding.scope).parent) if is_hidden else place


class Hiding(Names):
    """A variable hides the type of its name: `struct log log;`."""

    def place_of(self, file: FileSymbols, binding: Binding) -> ScopeRef:
        return _outside(file, binding)


class HidingMembers(MemberNames):
    """Methods name members without a receiver; a variable hides the type of its name."""

    def place_of(self, file: FileSymbols, binding: Binding) -> ScopeRef:
        return _outside(file, binding)

    def package(self, file: FileSymbols, number: int) -> Value | None:
        return namespace(file, number)
