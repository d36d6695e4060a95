"""The rules of JavaScript and TypeScript."""

from collections.abc import Mapping

from ctx_indexer.languages.semantics.definitions import Words
from ctx_indexer.languages.semantics.questions import Semantics
from ctx_indexer.languages.web.calls import Chains, WithoutTypes
from ctx_indexer.languages.web.modules import Modules
from ctx_indexer.languages.web.names import Callbacks, ObjectMembers, This

_JAVASCRIPT = Semantics(
    words=Words(
        instance=frozenset(["this"]),
        parent=frozenset(["super"]),
        constructor="constructor",
        callable_members=frozenset(["call", "apply", "bind"]),
    ),
    visible=Modules(),
    names=This(),
    results=Chains(),
    members=ObjectMembers(),
    overloads=WithoutTypes(),
    parameters=Callbacks(),
)
SEMANTICS: Mapping[str, Semantics] = dict.fromkeys(["javascript", "typescript", "tsx"], _JAVASCRIPT)
