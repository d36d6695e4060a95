"""Stand-ins with visible behaviour, where the real part would be slow or opaque."""

import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.factory import SHIPPED
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.settings.models import CODE_MODEL
from ctx_core.text.tokens import text_terms


@lru_cache
def shipped() -> StaticEmbedder:
    """Load the shipped model for code, once: it cannot change."""
    return StaticEmbedder(SHIPPED / CODE_MODEL)


class Counting:
    """The shipped model, which counts the texts that it embeds."""

    def __init__(self, name: str | None = None) -> None:
        self._model = shipped()
        self.name = name or self._model.name
        self.dims = self._model.dims
        self.computed: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.computed += texts
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._model.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._model.embed_words(words)


class Overlap:
    """A reranker: a text's score is the share of the query's words that it has."""

    name = "overlap"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.read: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        time.sleep(self._seconds)
        self.read = list(texts)
        terms = set(text_terms(query))
        return [len(terms & set(text_terms(text))) / len(terms) for text in texts]
