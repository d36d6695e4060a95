"""The rules of Go."""

from collections.abc import Mapping

from ctx_indexer.languages.go.folders import Folders
from ctx_indexer.languages.go.interfaces import Promised
from ctx_indexer.languages.go.members import Embedded
from ctx_indexer.languages.go.variables import Declared, Static
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.questions import Semantics

SEMANTICS: Mapping[str, Semantics] = {
    "go": Semantics(
        words=Words(constructor="-"),  # no function has this name: Go has no constructors
        visible=Folders(),
        names=Declared(),
        receivers=Static(),
        targets=Promised(),
        members=Embedded(),
    )
}
