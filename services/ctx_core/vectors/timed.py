"""Counts and times the calls of a vector store, for metrics."""

import functools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from ctx_core.vectors.protocol import VectorStore

# The operations that read or change points, and the two of a rebuild.
TIMED = frozenset("query_batch upsert delete retrieve scroll count facet build swap".split())


@dataclass
class OperationTimes:
    """The calls of one operation since the start."""

    calls: int = 0
    failures: int = 0
    seconds: float = 0.0


class TimedStore:
    """A vector store whose calls are counted; use it as the store that `timed` returns."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self.times: dict[str, OperationTimes] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        return self._timed(name, value) if name in TIMED else value

    def _timed(
        self, name: str, run: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(run)
        async def call(*args: Any, **kwargs: Any) -> Any:
            times = self.times.setdefault(name, OperationTimes())
            times.calls += 1
            started = time.perf_counter()
            try:
                return await run(*args, **kwargs)
            except BaseException:
                times.failures += 1
                raise
            finally:
                times.seconds += time.perf_counter() - started

        return call


def timed(store: VectorStore) -> VectorStore:
    """Return the store with its calls counted."""
    return cast(VectorStore, TimedStore(store))


def operation_times(store: VectorStore) -> Mapping[str, OperationTimes]:
    """Return the times of a store that `timed` returned; none of any other."""
    times = store.times if isinstance(store, TimedStore) else {}
    return MappingProxyType(times)
