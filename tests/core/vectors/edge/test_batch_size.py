"""The size of a batch follows the duration of calls."""

import pytest

from ctx_core.vectors.edge.batch_size import (
    INITIAL_SIZE,
    MAX_SIZE,
    MIN_SIZE,
    TARGET_SECONDS,
    BatchSize,
)


@pytest.mark.parametrize(
    ("seconds", "size"),
    [
        (TARGET_SECONDS * 2, INITIAL_SIZE // 2),
        (TARGET_SECONDS / 2, INITIAL_SIZE),
        (TARGET_SECONDS / 10, INITIAL_SIZE * 2),
    ],
)
def test_a_call_adjusts_the_size(seconds: float, size: int) -> None:
    batch = BatchSize()
    batch.adjust(seconds)
    assert batch.size == size


def test_the_size_stays_within_its_bounds() -> None:
    batch = BatchSize()
    for seconds, bound in ((1.0, MIN_SIZE), (0.0, MAX_SIZE)):
        for _ in range(20):
            batch.adjust(seconds)
        assert batch.size == bound


def test_a_block_is_timed() -> None:
    batch = BatchSize()
    with batch.timed():
        pass
    assert batch.size == INITIAL_SIZE * 2
