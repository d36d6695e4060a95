"""Cross-encoders, which read a query and a text together, and the stage of a search with one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ctx_core.blocking import COMPUTE
from ctx_core.embedding.onnx import OnnxModel, from_catalogue
from ctx_core.errors import TimedOut

MODEL_ROLE = "rerank model"  # how errors call it
MAX_CHARACTERS = 2_000  # of a text: the small cross-encoders take in no more


class Reranker(Protocol):
    """A cross-encoder. Blocking: call it off the event loop."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text against the query, from 0 to 1."""
        ...


class OnnxReranker:
    """A cross-encoder exported to ONNX, in a folder with its tokenizer."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._model = OnnxModel(MODEL_ROLE, folder)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        logits = self._model.run([(query, text) for text in texts])[0]
        return _probabilities(np.asarray(logits, np.float32))


class FastembedReranker:
    """A model of fastembed's catalogue, downloaded once into the data folder."""

    def __init__(self, name: str, cache_dir: Path) -> None:
        from fastembed.rerank.cross_encoder import TextCrossEncoder  # noqa: PLC0415 - slow import

        self.name = name
        self._model = from_catalogue(MODEL_ROLE, name, TextCrossEncoder, cache_dir)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        logits = np.array(list(self._model.rerank(query, list(texts))), np.float32)
        return _probabilities(logits)


def open_reranker(name: str | None, cache_dir: Path) -> Reranker | None:
    """Load a cross-encoder from a folder or fastembed's catalogue; None without a name.

    Blocking, for seconds. Raises ModelUnavailable.
    """
    if name is None:
        return None
    folder = Path(name).expanduser()
    return OnnxReranker(name, folder) if folder.is_dir() else FastembedReranker(name, cache_dir)


def _probabilities(logits: NDArray[np.float32]) -> list[float]:
    """Map the model's output, one or two classes per text, to the probability of a match."""
    rows = logits.reshape(len(logits), -1)
    score = rows[:, 1] - rows[:, 0] if rows.shape[1] == 2 else rows[:, -1]
    probabilities: list[float] = (1.0 / (1.0 + np.exp(-score))).tolist()
    return probabilities


@dataclass(frozen=True)
class RerankStage:
    """A cross-encoder and how long it may take."""

    reranker: Reranker
    deadline_seconds: float

    @property
    def model(self) -> str:
        return self.reranker.name

    async def score(
        self, query: str, texts: Sequence[str], within_seconds: float | None = None
    ) -> list[float]:
        """Score the beginning of each text against the query, from 0 to 1.

        Raises TimedOut at the deadline, or at an earlier one of the caller; the thread that was
        scoring ends by itself.
        """
        beginnings = [text[:MAX_CHARACTERS] for text in texts]
        deadline = min(self.deadline_seconds, within_seconds or self.deadline_seconds)
        try:
            async with asyncio.timeout(deadline):
                return await COMPUTE.run(self.reranker.score, query, beginnings)
        except TimeoutError:
            raise TimedOut(f"took longer than {deadline:g} s") from None


def open_stage(model: str | None, models_dir: Path, deadline_seconds: float) -> RerankStage | None:
    """Load the model that RERANK_MODEL names; None without one. Blocking, for seconds."""
    reranker = open_reranker(model, models_dir)
    return None if reranker is None else RerankStage(reranker, deadline_seconds)
