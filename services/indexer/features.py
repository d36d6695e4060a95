"""What ranking weighs of a chunk, worked out once: a chunk's id comes from its content, so what is
known of it stays true."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from services.core.tokens import terms, text_terms
from services.core.vectors.protocol import VectorStore
from services.indexer.points import facts

MAX_KNOWN = 20_000  # about 30 MB; reading a payload costs thirty times as much as finding it here

# Code that was kept for old callers, and code that only shows how to call: seldom what is meant.
_ASIDE = re.compile(
    r"(?:^|/)_?(?:compat|deprecated|legacy|v1|examples?|benchmarks?|bench)(?:/|\.|$)"
)


class Place(NamedTuple):
    """Where a chunk stands; also the order of what scores the same, on every machine."""

    repo: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Features:
    """A chunk as the ranking sees it. Names are in lower case, terms are stems."""

    place: Place
    kind: str
    symbol_path: str
    symbols: frozenset[str]
    file_terms: frozenset[str]
    name_terms: frozenset[str]
    symbol_terms: frozenset[str]
    is_test: bool
    is_docs: bool
    is_generated: bool
    is_aside: bool


def features(known: Mapping[str, Any]) -> Features:
    """Of what `facts` tells of a stored chunk."""
    path = str(known["path"])
    names = known["symbols"]
    return Features(
        place=Place(str(known["repo"]), path, int(known["start_line"])),
        kind=str(known["kind"]),
        symbol_path=str(known["symbol_path"]).lower(),
        symbols=frozenset(names),
        file_terms=frozenset(text_terms(PurePosixPath(path).name.split(".")[0])),
        name_terms=frozenset(term for name in names for term in terms(name)),
        symbol_terms=frozenset(terms(str(known["symbol"]))),
        is_test=bool(known["is_test"]),
        is_docs=bool(known["is_docs"]),
        is_generated=bool(known["is_generated"] or known["is_vendored"]),
        is_aside=bool(_ASIDE.search(path)),
    )


class KnownChunks:
    """The features of chunks that were met before; others are read from the store."""

    def __init__(self, store: VectorStore, most: int = MAX_KNOWN) -> None:
        self._store = store
        self._most = most
        self._known: OrderedDict[tuple[str, str], Features] = OrderedDict()

    async def of(self, collection: str, ids: Iterable[str]) -> dict[str, Features]:
        """The features of those chunks that are there."""
        wanted = list(ids)
        missing = [name for name in wanted if (collection, name) not in self._known]
        if missing:
            await self._learn(collection, missing)
        found = {}
        for name in wanted:
            if (collection, name) in self._known:
                self._known.move_to_end((collection, name))
                found[name] = self._known[collection, name]
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return found

    async def _learn(self, collection: str, ids: Sequence[str]) -> None:
        for record in await self._store.retrieve(collection, ids):
            self._known[collection, record.id] = features(facts(record.payload))
