"""The rules of Java and Kotlin, whose files see one another."""

from collections.abc import Mapping

from ctx_indexer.languages.jvm.definitions import JAVA
from ctx_indexer.languages.jvm.java import ByTypes, Declared, Fields, Outer
from ctx_indexer.languages.jvm.kotlin import Companions
from ctx_indexer.languages.semantics.arguments import Fitting
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.names import MemberNames
from ctx_indexer.languages.semantics.overloads import OneRuns
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.semantics.targets import Compiled
from ctx_indexer.languages.semantics.visible import Packages

_KOTLIN = "kotlin"
_THIS, _SUPER = frozenset(["this"]), frozenset(["super"])
_PACKAGES = Packages(frozenset([JAVA, _KOTLIN]))

SEMANTICS: Mapping[str, Semantics] = {
    JAVA: Semantics(
        words=Words(instance=_THIS, parent=_SUPER),
        visible=_PACKAGES,
        names=Fields(),
        targets=ByTypes(),
        results=Declared(),
        members=Outer(),
        overloads=OneRuns(),
    ),
    _KOTLIN: Semantics(
        words=Words(
            instance=_THIS,
            parent=_SUPER,
            constructor="constructor",
            callable_members=frozenset(["invoke"]),
        ),
        visible=_PACKAGES,
        names=MemberNames(),
        targets=Compiled(),
        members=Companions(),
        overloads=Fitting(),
    ),
}
