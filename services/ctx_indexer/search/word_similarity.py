"""The similarity of words in names to the words of a query, by the model's word vectors.

`auth.py` answers "authentication", and `ctx` is a context: different letters, one meaning.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.text.tokens import terms, word_parts
from ctx_indexer.search.query import ParsedQuery

# Below this cosine two words are unrelated; chosen on the benchmark, where 0.1 to 0.4 are alike.
UNRELATED = 0.2
MAX_WORDS = 20_000  # about 20 MB of vectors; a full cache is dropped

Vectors = NDArray[np.float32]


class WordSimilarity:
    """Compares words, and caches their vectors. Safe in threads: the cache grows or is replaced."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    async def compare(self, query: ParsedQuery, words: Iterable[str]) -> Mapping[str, float]:
        """Return for each word its similarity, from 0 to 1, to the closest word of the query."""
        words = list(dict.fromkeys(words))
        equal = equal_stems(query, words)
        query_words = [part for part in dict.fromkeys(word_parts(query.text)) if terms(part)]
        if not query_words or not words:
            return equal
        similar = await COMPUTE.run(self._similarities, query_words, words)
        return {word: max(equal[word], similar.get(word, 0.0)) for word in words}

    def _similarities(self, query_words: list[str], words: list[str]) -> dict[str, float]:
        """Return scaled cosines; none where the model is too slow for single words."""
        vectors = self._load([*query_words, *words])
        if not vectors:
            return {}
        query = np.stack([vectors[word] for word in query_words])
        names = np.stack([vectors[word] for word in words])
        cosines = (names @ query.T).max(axis=1)
        scaled = np.clip((cosines - UNRELATED) / (1 - UNRELATED), 0, 1)
        return dict(zip(words, scaled.tolist(), strict=True))

    def _load(self, words: list[str]) -> Mapping[str, Vectors]:
        """Return the vectors of at least these words; none where the model gives none."""
        vectors = self._vectors
        missing = list(dict.fromkeys(word for word in words if word not in vectors))
        if len(vectors) + len(missing) > MAX_WORDS:
            vectors, missing = {}, list(dict.fromkeys(words))
        if missing:
            rows = self._embedder.embed_words(missing)
            if rows is None:
                return {}
            vectors.update(zip(missing, rows, strict=True))
            self._vectors = vectors
        return vectors


def equal_stems(query: ParsedQuery, words: Iterable[str]) -> dict[str, float]:
    """Return 1 for each word that shares a stem with the query, 0 for the others."""
    return {word: float(not query.terms.isdisjoint(terms(word))) for word in words}
