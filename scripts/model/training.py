"""Teach a token table which descriptions belong to which code.

A text is a bag of distinct tokens, each counted by the root of how often it occurs: what the
runtime does too. Each description must be nearer to its own function than to the others of its
batch, and each function nearer to its own description (InfoNCE in both directions, with Adam).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Integers = NDArray[np.int64]

EPOCHS = 3  # more learns the packages by heart: the standard library is found less well
BATCH_SIZE = 512
LEARNING_RATE = 0.002  # falls to zero over the run
TEMPERATURE = np.float32(0.05)
# Half of the functions are shown without their name, which would otherwise do all the work.
ANONYMOUS_SHARE = 0.5
SEED = 7
ADAM_MEAN, ADAM_SQUARE, ADAM_EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Bags:
    """Texts as flat arrays: text i has tokens[bounds[i]:bounds[i + 1]]."""

    tokens: Integers
    weights: Array
    bounds: Integers

    def select(self, rows: Integers) -> "Bags":
        lengths = np.diff(self.bounds)[rows]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.bounds[rows] - bounds[:-1], lengths)
        places = np.arange(bounds[-1]) + shift
        return Bags(self.tokens[places], self.weights[places], bounds)


def bags(texts: Sequence[Sequence[int]], vocabulary: int) -> Bags:
    """The distinct tokens of each text with the roots of their counts."""
    flat = np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    keys, counts = np.unique(owners * vocabulary + flat, return_counts=True)
    owners, tokens = np.divmod(keys, vocabulary)
    bounds = np.searchsorted(owners, np.arange(len(texts) + 1)).astype(np.int64)
    return Bags(tokens, np.sqrt(counts, dtype=np.float32), bounds)


def join(first: Bags, second: Bags) -> Bags:
    """The texts of both, the second after the first."""
    return Bags(
        np.concatenate([first.tokens, second.tokens]),
        np.concatenate([first.weights, second.weights]),
        np.concatenate([first.bounds, second.bounds[1:] + first.bounds[-1]]),
    )


def train(
    table: Array,
    summaries: Bags,
    codes: Bags,
    anonymous: Bags,
    progress: Callable[[int, int], None],
) -> Array:
    """The table after training. Row i of the three belongs together; none may be empty."""
    shuffle = np.random.default_rng(SEED)
    pairs = len(summaries.bounds) - 1
    views = join(codes, anonymous)
    optimiser = _Adam(table.copy(), steps=EPOCHS * (pairs // BATCH_SIZE))
    for _ in range(EPOCHS):
        order = shuffle.permutation(pairs)
        for start in range(0, pairs - BATCH_SIZE + 1, BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            hidden = shuffle.random(BATCH_SIZE) < ANONYMOUS_SHARE
            batch = summaries.select(rows), views.select(rows + pairs * hidden)
            optimiser.step(_gradient(optimiser.table, *batch))
            progress(optimiser.done, optimiser.steps)
    return optimiser.table


def _gradient(table: Array, summaries: Bags, codes: Bags) -> Array:
    left, left_lengths = _forward(table, summaries)
    right, right_lengths = _forward(table, codes)
    scores = left @ right.T / TEMPERATURE
    slopes: Array = (_softmax(scores, 1) + _softmax(scores, 0)) / np.float32(2)
    slopes[np.diag_indices_from(slopes)] -= 1
    slopes /= np.float32(len(slopes)) * TEMPERATURE
    both = join(summaries, codes)
    sums = np.concatenate(
        [
            _backward(left, left_lengths, slopes @ right),
            _backward(right, right_lengths, slopes.T @ left),
        ]
    )
    return _scatter(both, sums, len(table))


def _forward(table: Array, texts: Bags) -> tuple[Array, Array]:
    """Unit vectors of the texts, and the lengths that they had."""
    weighted = table[texts.tokens] * texts.weights[:, None]
    sums = np.add.reduceat(weighted, texts.bounds[:-1], axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / lengths, lengths


def _backward(units: Array, lengths: Array, slopes: Array) -> Array:
    """The slope for the sums, given the slope for the unit vectors made of them."""
    along = np.sum(units * slopes, axis=1, keepdims=True)
    result: Array = (slopes - units * along) / lengths
    return result


def _scatter(texts: Bags, sums: Array, vocabulary: int) -> Array:
    """Each token's share of the slopes of the texts that hold it; sorted, so always the same."""
    owners = np.repeat(np.arange(len(sums)), np.diff(texts.bounds))
    order = np.argsort(texts.tokens, kind="stable")
    shares = sums[owners[order]] * texts.weights[order, None]
    present, starts = np.unique(texts.tokens[order], return_index=True)
    gradient = np.zeros((vocabulary, sums.shape[1]), dtype=np.float32)
    gradient[present] = np.add.reduceat(shares, starts, axis=0)
    return gradient


def _softmax(scores: Array, axis: int) -> Array:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    shares: Array = powers / powers.sum(axis=axis, keepdims=True)
    return shares


class _Adam:
    """Adam with a rate that falls to zero."""

    def __init__(self, table: Array, steps: int) -> None:
        self.table = table
        self.steps = steps
        self.done = 0
        self._mean = np.zeros_like(table)
        self._square = np.zeros_like(table)

    def step(self, gradient: Array) -> None:
        rate = LEARNING_RATE * (1 - self.done / self.steps)
        self.done += 1
        self._mean += (1 - ADAM_MEAN) * (gradient - self._mean)
        self._square += (1 - ADAM_SQUARE) * (np.square(gradient) - self._square)
        root = np.sqrt(self._square / (1 - ADAM_SQUARE**self.done)) + ADAM_EPSILON
        self.table -= (rate / (1 - ADAM_MEAN**self.done)) * self._mean / root
