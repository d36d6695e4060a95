"""The rules of C#."""

from collections.abc import Mapping

from ctx_indexer.languages.semantics.arguments import Fitting
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.members import OpenClasses
from ctx_indexer.languages.semantics.names import MemberNames, namespace
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.targets import Compiled
from ctx_indexer.languages.semantics.values import Value
from ctx_indexer.languages.semantics.visible import Packages


class Namespaces(MemberNames):
    """A namespace is a value, whose members are its types: `Shop.Cart`."""

    def package(self, file: FileSymbols, number: int) -> Value | None:
        return namespace(file, number)


SEMANTICS: Mapping[str, Semantics] = {
    "csharp": Semantics(
        words=Words(
            instance=frozenset(["this"]),
            parent=frozenset(["base"]),
            callable_members=frozenset(["Invoke"]),
        ),
        visible=Packages(nested=True),
        names=Namespaces(),
        targets=Compiled(),
        members=OpenClasses(),
        overloads=Fitting(),
    )
}
