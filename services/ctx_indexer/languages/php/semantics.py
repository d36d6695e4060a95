"""The rules of PHP."""

from collections.abc import Mapping

from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.names import Names, namespace
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.values import PACKAGE, Value, Values
from ctx_indexer.languages.semantics.visible import Packages
from ctx_indexer.syntax.symbols.table import Import


class Namespaces(Names):
    """A namespace is a value, whose members are its classes: `Shop\\Cart`."""

    def package(self, file: FileSymbols, number: int) -> Value | None:
        return namespace(file, number)


class Uses(Packages):
    """`use Shop\\Cart;` may name a namespace, however it is written."""

    def unknown(self, file: FileSymbols, each: Import) -> Values:
        return frozenset([Value(PACKAGE, name=f"{each.module}.{each.name}", path=file.path)])


SEMANTICS: Mapping[str, Semantics] = {
    "php": Semantics(
        words=Words(
            instance=frozenset(["$this"]),
            own_class=frozenset(["self", "static"]),
            parent=frozenset(["parent"]),
            constructor="__construct",
            sigil="$",
        ),
        visible=Uses(nested=True),
        names=Namespaces(),
    )
}
