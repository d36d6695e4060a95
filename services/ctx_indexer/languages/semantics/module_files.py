"""Names of languages whose imports name files: Python and JavaScript."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.machine import Machine
from ctx_indexer.languages.semantics.values import (
    NOTHING,
    UNRESOLVED_VALUES,
    ScopeRef,
    Value,
    Values,
    external,
)
from ctx_indexer.languages.semantics.visible import Visible, file_value
from ctx_indexer.syntax.symbols.table import WHOLE_MODULE, Import


class ModuleFiles(Visible, ABC):
    """A file sees the names that it imports: `from shop.cart import Cart` → `shop/cart.py`."""

    @abstractmethod
    def paths(self, importer: str, module: str) -> Sequence[str]:
        """Return the paths that the name of a module may mean, best first."""

    def seen(
        self, machine: Machine, file: FileSymbols, place: ScopeRef, name: str
    ) -> Values | None:
        return self.from_stars(machine, file, name)

    def starred(
        self, machine: Machine, file: FileSymbols, each: Import, name: str
    ) -> Values | None:
        module = self.module(machine, file, each.module)
        return self.exported(machine, module, name) if module else None

    def imported(self, machine: Machine, file: FileSymbols, each: Import) -> Values:
        module = self.module(machine, file, each.module)
        if each.name == WHOLE_MODULE:
            return file_value(module) if module else external(each.module)
        values = self.exported(machine, module, each.name) if module else None
        if values is not None:
            return values
        inner = self.module(machine, file, _joined(each.module, each.name))
        if inner is not None:
            return file_value(inner)
        if module is not None:
            return UNRESOLVED_VALUES
        return external(_joined(each.module, each.name))

    def is_imported(self, file: FileSymbols, number: int) -> bool:
        """Members are not imported: `from a import f` never means `A.f`."""
        return not file.called_name(number)[1]

    def attribute(self, machine: Machine, file: FileSymbols, package: Value, name: str) -> Values:
        return NOTHING  # no value is a package

    def module(self, machine: Machine, importer: FileSymbols, module: str) -> FileSymbols | None:
        """Return the file that a module's name means."""
        for path in self.paths(importer.path, module):
            if file := machine.file(path):
                return file
        return None


def _joined(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
