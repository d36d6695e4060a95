"""The interface of embedding models."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Embeds texts as unit vectors. Blocking: call it off the event loop for large batches."""

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length `dims` per text."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query."""
        ...

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one row per word; None where hundreds of words would make a request wait."""
        ...
