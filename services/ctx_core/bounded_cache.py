"""A cache of a bounded total size."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """The most recently used values, of a bounded total size. May be used by several threads."""

    def __init__(self, max_size: int, size_of: Callable[[T], int]) -> None:
        self._max_size = max_size
        self._size_of = size_of
        self._size = 0
        self._values: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """Return a value, which counts as used now; None where there is none."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: str, value: T) -> None:
        """Keep a value; where the values are too large together, drop the least recently used."""
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._size += self._size_of(value)
            while self._size > self._max_size and len(self._values) > 1:
                self._drop(next(iter(self._values)))

    def drop(self, key: str) -> None:
        """Forget a value."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: str) -> None:
        if key in self._values:
            self._size -= self._size_of(self._values.pop(key))
