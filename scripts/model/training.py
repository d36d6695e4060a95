"""Teach a token table which questions belong to which code.

Each question must be nearer to its own code than to the others of its batch, and each code nearer
to its own question (InfoNCE in both directions, Adam). A batch comes from one package, or from a
few small ones: what must be told apart is what lies in one repository.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float32]
Integers = NDArray[np.int64]

EPOCHS = 2
BATCH_SIZE = 512
LEARNING_RATE = 0.002  # rises over WARM_UP steps, then falls to zero
WARM_UP = 50
TEMPERATURE = np.float32(0.1)  # 0.05 and 0.03 find less on the benchmark's repositories
ADAM_MEAN, ADAM_SQUARE, ADAM_EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
HIDDEN = np.float32(-1e4)  # the score of what is neither right nor wrong
SMALLEST = np.float32(1e-9)  # keeps logarithms finite


@dataclass(frozen=True)
class Examples:
    """Row i of both belongs together. Rows of one topic are not held against each other."""

    questions: sp.csr_matrix
    codes: sp.csr_matrix
    topics: Integers
    packages: Integers

    def __len__(self) -> int:
        return int(self.questions.shape[0])


def train(
    table: Array, examples: Examples, seed: int, progress: Callable[[int, int, float], None]
) -> Array:
    """The table after training; `progress` hears the step, of how many, and the loss."""
    steps = EPOCHS * (len(examples) // BATCH_SIZE)
    optimiser = _Adam(table.copy(), steps)
    for step, rows in zip(range(1, steps + 1), _batches(examples, seed), strict=False):
        gradient, touched, loss = _gradient(
            optimiser.table, examples.questions[rows], examples.codes[rows], examples.topics[rows]
        )
        optimiser.step(gradient, touched)
        progress(step, steps, loss)
    return optimiser.table


def _batches(examples: Examples, seed: int) -> Iterator[Integers]:
    rng = np.random.default_rng(seed)
    homes = [np.flatnonzero(examples.packages == p) for p in np.unique(examples.packages)]
    while True:
        batches = _one_epoch(homes, rng)
        yield from (batches[number] for number in rng.permutation(len(batches)))


def _one_epoch(homes: Sequence[Integers], rng: np.random.Generator) -> list[Integers]:
    """Every row once, but for a rest: whole batches of a package, then remainders joined."""
    batches: list[Integers] = []
    joined: Integers = np.empty(0, np.int64)
    for number in rng.permutation(len(homes)):
        rows = rng.permutation(homes[number])
        whole = len(rows) // BATCH_SIZE * BATCH_SIZE
        batches += [rows[i : i + BATCH_SIZE] for i in range(0, whole, BATCH_SIZE)]
        joined = np.concatenate([joined, rows[whole:]])
        if len(joined) >= BATCH_SIZE:
            batches.append(joined[:BATCH_SIZE])
            joined = joined[BATCH_SIZE:]
    return batches


def _gradient(
    table: Array, questions: sp.csr_matrix, codes: sp.csr_matrix, topics: Integers
) -> tuple[Array, Integers, float]:
    """The slopes of the tokens that occur, which tokens these are, and the loss."""
    left, left_lengths = unit(questions @ table)
    right, right_lengths = unit(codes @ table)
    right_ones = np.eye(len(left), dtype=bool)
    scores = left @ right.T / TEMPERATURE
    scores[(topics[:, None] == topics[None, :]) & ~right_ones] = HIDDEN
    forth, back = _softmax(scores, 1), _softmax(scores, 0)
    loss = -np.log(np.maximum(forth[right_ones], SMALLEST)).mean()
    slopes: Array = (forth + back) / np.float32(2)
    slopes[right_ones] -= 1
    slopes /= np.float32(len(left)) * TEMPERATURE
    sums = np.concatenate(
        [
            _backward(left, left_lengths, slopes @ right),
            _backward(right, right_lengths, slopes.T @ left),
        ]
    )
    both = sp.vstack([questions, codes], format="csr")
    touched, places = np.unique(both.indices, return_inverse=True)
    narrow = sp.csr_matrix((both.data, places, both.indptr), shape=(both.shape[0], len(touched)))
    return (narrow.T @ sums).astype(np.float32), touched, float(loss)


def unit(sums: Array) -> tuple[Array, Array]:
    """Vectors of length one, and the lengths that they had; a zero stays one."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return sums / lengths, lengths


def _backward(units: Array, lengths: Array, slopes: Array) -> Array:
    """The slope for the sums, given the slope for the unit vectors made of them."""
    along = np.sum(units * slopes, axis=1, keepdims=True)
    result: Array = (slopes - units * along) / lengths
    return result


def _softmax(scores: Array, axis: int) -> Array:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    shares: Array = powers / powers.sum(axis=axis, keepdims=True)
    return shares


class _Adam:
    """Adam that moves only the rows that occur, each by its own count of steps."""

    def __init__(self, table: Array, steps: int) -> None:
        self.table = table
        self._steps = steps
        self._done = 0
        self._mean = np.zeros_like(table)
        self._square = np.zeros_like(table)
        self._counts = np.zeros((len(table), 1), np.float32)

    def step(self, gradient: Array, rows: Integers) -> None:
        rate = LEARNING_RATE * (1 - self._done / self._steps)
        self._done += 1
        rate *= min(1.0, self._done / WARM_UP)
        self._counts[rows] += 1
        counts = self._counts[rows]
        mean = ADAM_MEAN * self._mean[rows] + (1 - ADAM_MEAN) * gradient
        square = ADAM_SQUARE * self._square[rows] + (1 - ADAM_SQUARE) * np.square(gradient)
        self._mean[rows], self._square[rows] = mean, square
        root = np.sqrt(square / (1 - ADAM_SQUARE**counts)) + ADAM_EPSILON
        self.table[rows] -= np.float32(rate) * (mean / (1 - ADAM_MEAN**counts)) / root
