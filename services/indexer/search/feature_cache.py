"""Rank features of chunks, kept in memory. A chunk's id comes from its content: they stay true."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from services.core.errors import SearchFailed
from services.core.vectors.protocol import VectorStore
from services.indexer.schema.features import WEIGHED, Features, unpacked

MAX_KNOWN = 20_000  # about 30 MB; reading a chunk costs fifteen times as much as finding it here


_READ = ("repo", "path", WEIGHED)


class FeatureCache:
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
        for record in await self._store.retrieve(collection, ids, fields=_READ):
            try:
                repo, path, text = (record.payload[field] for field in _READ)
                self._known[collection, record.id] = unpacked(repo, path, text)
            except (KeyError, ValueError) as error:  # a field, or a part of one, that is not there
                raise SearchFailed(
                    f"collection {collection} was written by another version of ctx; bring it up "
                    "to date with: ctx index",
                    collection=collection,
                ) from error
