"""A cache of rank features. A chunk's id comes from its content, so entries never go stale."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from ctx_core.errors import SearchFailed
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.schema.features import Features, decode_features
from ctx_indexer.schema.fields import PATH, RANK_FEATURES, REPO
from ctx_indexer.schema.payload import OUTDATED

MAX_CHUNKS = 20_000  # about 30 MB; reading a chunk takes fifteen times as long as finding it here

_FIELDS = (REPO, PATH, RANK_FEATURES)


class FeatureCache:
    """The rank features of the chunks used last; others are read from the store."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._features: OrderedDict[tuple[str, str], Features] = OrderedDict()

    async def get(self, collection: str, ids: Iterable[str]) -> dict[str, Features]:
        """Return the features of the chunks that exist, by id.

        Raises SearchFailed for chunks that another version of ctx wrote.
        """
        ids = list(ids)
        missing = [chunk_id for chunk_id in ids if (collection, chunk_id) not in self._features]
        if missing:
            await self._load(collection, missing)
        features = {}
        for chunk_id in ids:
            if (collection, chunk_id) in self._features:
                self._features.move_to_end((collection, chunk_id))
                features[chunk_id] = self._features[collection, chunk_id]
        while len(self._features) > MAX_CHUNKS:
            self._features.popitem(last=False)
        return features

    async def _load(self, collection: str, ids: Sequence[str]) -> None:
        for record in await self._store.retrieve(collection, ids, fields=_FIELDS):
            try:
                repo, path, encoded = (record.payload[field] for field in _FIELDS)
                self._features[collection, record.id] = decode_features(repo, path, encoded)
            except (KeyError, TypeError, ValueError) as error:
                raise SearchFailed(f"{collection}: {OUTDATED}", collection=collection) from error
