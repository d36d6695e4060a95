"""The rules of C and C++, whose files include one another."""

from collections.abc import Mapping

from ctx_indexer.languages.native.names import Hiding, HidingMembers, Namespaces, Program
from ctx_indexer.languages.native.types import (
    ByTypes,
    Declarations,
    Fields,
    Heads,
    MaybeOutside,
    OpenFields,
    OwnConstructors,
)
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.overloads import OneRuns
from ctx_indexer.languages.semantics.questions import Semantics

_FAMILY = frozenset(["c", "cpp"])

SEMANTICS: Mapping[str, Semantics] = {
    "c": Semantics(
        words=Words(constructor="-"),  # no name is one
        visible=Program(_FAMILY),
        names=Hiding(),
        receivers=MaybeOutside(),
        targets=OwnConstructors(),
        results=Declarations(),
        members=Fields(),
        overloads=OneRuns(),
        parameters=Heads(),
    ),
    "cpp": Semantics(
        words=Words(instance=frozenset(["this"])),
        visible=Namespaces(_FAMILY, nested=True),
        names=HidingMembers(),
        receivers=MaybeOutside(),
        targets=OwnConstructors(),
        results=Declarations(),
        members=OpenFields(),
        overloads=ByTypes(),
        parameters=Heads(),
    ),
}
