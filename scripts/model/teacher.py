"""A BERT encoder in numpy, just enough of one to ask the teacher for its token vectors.

No torch and no ONNX: the vocabulary is three-token inputs, minutes of work on a laptop.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

BATCH_SIZE = 512  # inputs at once; larger ones only leave the processor's cache


@dataclass(frozen=True)
class Shape:
    """What the weights do not say about themselves; from the teacher's config.json."""

    layers: int
    heads: int
    epsilon: float


@dataclass(frozen=True)
class Teacher:
    """A BERT encoder: its weights by name, and its shape."""

    weights: dict[str, Array]
    shape: Shape

    def encode(self, ids: NDArray[np.int64]) -> Array:
        """The last hidden states of equally long inputs, (inputs, tokens, width)."""
        states = self._norm(self._embed(ids), "embeddings.LayerNorm")
        for layer in range(self.shape.layers):
            prefix = f"encoder.layer.{layer}"
            states = self._attend(states, prefix)
            states = self._transform(states, prefix)
        return states

    def _embed(self, ids: NDArray[np.int64]) -> Array:
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        places = self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        segment = self.weights["embeddings.token_type_embeddings.weight"][0]
        total: Array = words + places + segment
        return total

    def _linear(self, states: Array, name: str) -> Array:
        product: Array = states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return product

    def _norm(self, states: Array, name: str) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self.shape.epsilon))
        normed: Array = scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return normed

    def _attend(self, states: Array, prefix: str) -> Array:
        def head(name: str) -> Array:
            projected = self._linear(states, f"{prefix}.attention.self.{name}")
            return projected.reshape(*states.shape[:2], self.shape.heads, -1).swapaxes(1, 2)

        queries, keys, values = head("query"), head("key"), head("value")
        scores = queries @ keys.swapaxes(2, 3) / np.sqrt(np.float32(queries.shape[-1]))
        mixed = (_softmax(scores) @ values).swapaxes(1, 2).reshape(states.shape)
        added = states + self._linear(mixed, f"{prefix}.attention.output.dense")
        return self._norm(added, f"{prefix}.attention.output.LayerNorm")

    def _transform(self, states: Array, prefix: str) -> Array:
        inner = _gelu(self._linear(states, f"{prefix}.intermediate.dense"))
        added = states + self._linear(inner, f"{prefix}.output.dense")
        return self._norm(added, f"{prefix}.output.LayerNorm")


def load_teacher(folder: Path) -> Teacher:
    """The teacher from a folder with config.json and model.safetensors."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shape = Shape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
    )
    return Teacher(_read_safetensors(folder / "model.safetensors"), shape)


def token_vectors(
    teacher: Teacher,
    tokens: NDArray[np.int64],
    around: tuple[int, int],
    progress: Callable[[int, int], None],
) -> Array:
    """The teacher's state at each token when the token stands alone between the two `around`."""
    before, after = around
    vectors = []
    for start in range(0, len(tokens), BATCH_SIZE):
        batch = tokens[start : start + BATCH_SIZE]
        ids = np.stack([np.full_like(batch, before), batch, np.full_like(batch, after)], axis=1)
        vectors.append(teacher.encode(ids)[:, 1])
        progress(start + len(batch), len(tokens))
    return np.concatenate(vectors)


def _read_safetensors(path: Path) -> dict[str, Array]:
    """The float32 tensors of a file: eight bytes of length, a JSON header, the data."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        first, last = entry["data_offsets"]
        flat = np.frombuffer(data, "<f4", count=(last - first) // 4, offset=start + first)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


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
