"""The rules of Python."""

from collections.abc import Mapping

from ctx_indexer.languages.python.calls import Given, Runs
from ctx_indexer.languages.python.classes import (
    ALLOCATOR,
    Arguments,
    Attributes,
    Bodies,
    ExplicitSelf,
)
from ctx_indexer.languages.python.modules import Modules
from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.questions import Semantics

SEMANTICS: Mapping[str, Semantics] = {
    "python": Semantics(
        words=Words(constructor="__init__", allocator=ALLOCATOR),
        visible=Modules(),
        names=Bodies(),
        receivers=ExplicitSelf(),
        targets=Runs(),
        results=Given(),
        members=Attributes(),
        parameters=Arguments(),
    )
}
