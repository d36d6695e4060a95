"""How near the words of names are to the words of a query, by the vectors of the model.

`auth.py` is what "authentication" asks for, and `ctx` is a context: words that differ in letters
and agree in meaning.
"""

import asyncio
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from services.core.embedding.protocol import Embedder
from services.core.text.tokens import parts, terms
from services.indexer.search.query import ParsedQuery

# Below this cosine two words have nothing to do with each other; chosen on the benchmark, where
# 0.1 to 0.4 are alike.
UNRELATED = 0.2
MAX_WORDS_KNOWN = 20_000  # about 20 MB of vectors; then it starts anew

Vectors = NDArray[np.float32]


class WordSimilarity:
    """Compares words. Safe in threads: what is known only grows, or is replaced."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    async def to(self, question: ParsedQuery, names: Iterable[str]) -> Mapping[str, float]:
        """For each word of a name, from 0 to 1: how near the nearest word of the question is."""
        wanted = list(dict.fromkeys(names))
        same = equal(question, wanted)
        asked = [part for part in dict.fromkeys(parts(question.text)) if terms(part)]
        if not asked or not wanted:
            return same
        near = await asyncio.to_thread(self._near, asked, wanted)
        return {word: max(same[word], near.get(word, 0.0)) for word in wanted}

    def _near(self, asked: list[str], wanted: list[str]) -> dict[str, float]:
        """Nothing is near by a model that is too slow to be asked for words."""
        known = self._learnt([*asked, *wanted])
        if not known:
            return {}
        question = np.stack([known[word] for word in asked])
        names = np.stack([known[word] for word in wanted])
        cosines = (names @ question.T).max(axis=1)
        scaled = np.clip((cosines - UNRELATED) / (1 - UNRELATED), 0, 1)
        return dict(zip(wanted, scaled.tolist(), strict=True))

    def _learnt(self, words: list[str]) -> Mapping[str, Vectors]:
        """The vectors of at least these words; none where the model gives none."""
        known = self._known
        missing = list(dict.fromkeys(word for word in words if word not in known))
        if len(known) + len(missing) > MAX_WORDS_KNOWN:
            known, missing = {}, list(dict.fromkeys(words))
        if missing:
            rows = self._embedder.embed_words(missing)
            if rows is None:
                return {}
            known.update(zip(missing, rows, strict=True))
            self._known = known
        return known


def equal(question: ParsedQuery, names: Iterable[str]) -> dict[str, float]:
    """1 for a word whose stem the question has, 0 for others."""
    return {word: float(not question.terms.isdisjoint(terms(word))) for word in names}
