"""Cross-encoders: a model that reads a query and a text together and says how well they fit."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from services.core.embedding.onnx import OnnxModel, from_catalogue
from services.core.errors import TimedOut

WHAT = "rerank model"
READ_CHARACTERS = 2_000  # of a text: what the small cross-encoders can take in


class Reranker(Protocol):
    """Blocking: call it off the event loop."""

    @property
    def name(self) -> str: ...

    def fit(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text fits, between 0 and 1."""
        ...


class OnnxReranker:
    """A cross-encoder exported to ONNX, in a folder with its tokenizer."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._model = OnnxModel(WHAT, folder)

    def fit(self, query: str, texts: Sequence[str]) -> list[float]:
        logits = self._model.run([(query, text) for text in texts])[0]
        return _probabilities(np.asarray(logits, np.float32))


class FastembedReranker:
    """A model of fastembed's catalogue, downloaded once into the data folder."""

    def __init__(self, name: str, cache_dir: Path) -> None:
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - slow import

        self.name = name
        self._model = from_catalogue(WHAT, name, TextCrossEncoder, cache_dir)

    def fit(self, query: str, texts: Sequence[str]) -> list[float]:
        scores = np.array(list(self._model.rerank(query, list(texts))), np.float32)
        return _probabilities(scores)


async def fit_in_time(
    reranker: Reranker, query: str, texts: Sequence[str], seconds: float
) -> list[float]:
    """How well the beginning of each text fits; TimedOut when it takes too long."""
    read = [text[:READ_CHARACTERS] for text in texts]
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(reranker.fit, query, read)
    except TimeoutError:
        raise TimedOut(f"took longer than {seconds:g} s") from None


def open_reranker(name: str | None, cache_dir: Path) -> Reranker | None:
    """The model that RERANK_MODEL names; None when it names none. Slow: at start only."""
    if name is None:
        return None
    folder = Path(name).expanduser()
    return OnnxReranker(name, folder) if folder.is_dir() else FastembedReranker(name, cache_dir)


def _probabilities(logits: np.ndarray) -> list[float]:
    """One number a text: of two classes the second is 'relevant'."""
    rows = logits.reshape(len(logits), -1)
    score = rows[:, 1] - rows[:, 0] if rows.shape[1] == 2 else rows[:, -1]
    fit: list[float] = (1.0 / (1.0 + np.exp(-score))).tolist()
    return fit
