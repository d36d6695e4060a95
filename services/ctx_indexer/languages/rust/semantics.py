"""The rules of Rust: paths of modules, crates of a workspace, and `impl` blocks."""

from collections.abc import Mapping, Sequence

from ctx_indexer.languages.rust.crates import crates, parents, roots, submodule
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.members import Members, all_homes
from ctx_indexer.languages.semantics.names import Names
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.values import (
    BUILTINS,
    DEFINITION,
    FILE,
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
)
from ctx_indexer.languages.semantics.visible import Visible, file_value
from ctx_indexer.syntax.symbols.spec import SUBMODULE
from ctx_indexer.syntax.symbols.table import FILE_SCOPE, MODULE, Import

_SELF, _SUPER, _CRATE = "self", "super", "crate"


class Paths(Visible):
    """`use shop::Cart;` → `Cart` in `shop.rs` or `shop/mod.rs`; imports are paths of modules."""

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        return self.from_stars(machine, file, name)

    def starred(
        self, machine: Machine, file: FileSymbols, each: Import, name: str
    ) -> Values | None:
        return _in_module(machine, _path(machine, file, each), name) or None

    def imported(self, machine: Machine, file: FileSymbols, each: Import) -> Values:
        if each.module.startswith(SUBMODULE):
            for path in submodule(file.path, each.module.removeprefix(SUBMODULE)):
                if found := machine.file(path):
                    return file_value(found)
            return external(each.alias)
        if not each.module:
            return _item(machine, file, each)
        found_values = _in_module(machine, _path(machine, file, each), each.name)
        return found_values or external(f"{each.module}.{each.name}")


def _item(machine: Machine, file: FileSymbols, each: Import) -> Values:
    """Return the item or crate that an import of one name means: `use Cart as C;` → `Cart`.

    This very import may bind the name: `use http;` names a crate.
    """
    with machine.entered(("use", file.path, each.scope, each.alias)) as entered:
        place = ScopeRef(file.path, each.scope)
        values = machine.name(place, each.name) if entered else NOTHING
    return values or _crate(machine, file, each.name) or external(each.name)


def _path(machine: Machine, file: FileSymbols, each: Import) -> Values:
    """Return the module that the path of an import means."""
    values = machine.evaluate(ScopeRef(file.path, each.scope), each.module)
    if each.module and "." not in each.module:
        return _or_crate(machine, file, each.module, values)
    return values


def _or_crate(machine: Machine, file: FileSymbols, name: str, values: Values) -> Values:
    """Return the crate that a name means where nothing binds the name; else the values."""
    if values != external(f"{BUILTINS}.{name}"):
        return values
    return _crate(machine, file, name) or values


def _crate(machine: Machine, file: FileSymbols, name: str) -> Values:
    """Return the root of a crate: `shop` → `crates/shop/src/lib.rs`."""
    found = (machine.file(path) for path in crates(file.path, name))
    return next((file_value(each) for each in found if each), NOTHING)


def _in_module(machine: Machine, modules: Values, name: str) -> Values:
    values = machine.attribute(modules, name)
    return frozenset(value for value in values if value.kind in (DEFINITION, FILE))


class PathWords(Names):
    """`self`, `super` and `crate` begin paths; in a method `self` is its instance."""

    def word(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        values = super().word(machine, file, place, name)
        if values is None and name in (_SELF, _SUPER, _CRATE):
            return _module(machine, file, place, name)
        return values


def _module(machine: Machine, file: FileSymbols, place: ScopeRef, word: str) -> Values:
    """Return the module that `self`, `super` or `crate` means at a place."""
    number = _module_around(file, place.scope)
    if word == _SELF:
        return _module_value(file, number)
    if word == _SUPER and number:
        return _module_value(file, _module_around(file, file.scope(number).parent))
    for path in parents(file.path) if word == _SUPER else roots(file.path):
        is_other = path != file.path or word == _CRATE
        if is_other and (found := machine.file(path)):
            return file_value(found)
    return UNRESOLVED_VALUES


def _module_around(file: FileSymbols, number: int) -> int:
    while number > 0 and file.scope(number).kind != MODULE:
        number = file.scope(number).parent
    return number


def _module_value(file: FileSymbols, number: int) -> Values:
    if number == FILE_SCOPE:
        return file_value(file)
    return frozenset([Value(DEFINITION, file.path, number)])


class Blocks(Members):
    """Blocks add members to a type: `impl Cart { … }`; a path may begin with a crate."""

    def homes(self, machine: Machine, file: FileSymbols, name: str) -> Sequence[FileSymbols]:
        return all_homes(machine, file, name)

    def dotted(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, values: Values, dotted: str
    ) -> Values:
        values = _or_crate(machine, file, dotted.partition(".")[0], values)
        return super().dotted(machine, file, place, values, dotted)


SEMANTICS: Mapping[str, Semantics] = {
    "rust": Semantics(
        words=Words(
            instance=frozenset([_SELF]),
            own_class=frozenset(["Self"]),
            constructor="-",  # no function has this name: `new` is a function like others
            passing=frozenset(
                "unwrap expect clone as_ref as_mut borrow borrow_mut lock unwrap_or_default".split()
            ),
        ),
        visible=Paths(),
        names=PathWords(),
        members=Blocks(),
    )
}
