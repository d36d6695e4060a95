"""A store that can only be read."""

from typing import Any, cast

from ctx_core.vectors.protocol import VectorStore

WRITES = frozenset({"ensure_collection", "delete_collection", "build", "swap", "upsert", "delete"})


class _ReadingStore:
    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        assert name not in WRITES, f"a read called {name}"
        return getattr(self._store, name)


def reading(store: VectorStore) -> VectorStore:
    """Return the store with every method that writes failing the test."""
    return cast(VectorStore, _ReadingStore(store))
