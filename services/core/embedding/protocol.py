"""What an embedding model is to the rest of ctx."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into unit vectors. Blocking: call it off the event loop for large batches."""

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length `dims` a text."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        """One row a word, for hundreds of words within a request; None where that takes longer."""
        ...
