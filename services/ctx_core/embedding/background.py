"""Loads a model beside the start of a server, so that nobody waits for it but its first caller."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ctx_core.embedding.protocol import Embedder
from ctx_core.errors import ModelUnavailable


class BackgroundEmbedder:
    """An embedder whose name and dims are known before it is loaded.

    Whoever embeds first waits until it is; a failure to load is raised there, each time.
    """

    def __init__(self, name: str, dims: int, load: Callable[[], Embedder]) -> None:
        self.name = name
        self.dims = dims
        pool = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._loading: Future[Embedder] = pool.submit(load)
        pool.shutdown(wait=False)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._loaded().embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._loaded().embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._loaded().embed_words(words)

    def _loaded(self) -> Embedder:
        embedder = self._loading.result()
        if embedder.dims != self.dims:
            raise ModelUnavailable(
                f"{self.name} has {embedder.dims} dims, its model.json says {self.dims}"
            )
        return embedder
