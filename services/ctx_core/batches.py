"""Cut a sequence into batches."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of `size` items in order, the last one shorter where it does not divide."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
