"""The cache of names: callers may ask for any number of them."""

import pytest

from ctx_core.errors import CollectionNotFound
from ctx_core.vectors.server import aliases
from ctx_core.vectors.server.store import ServerStore
from tests.support.vectors.samples import SPEC

ASKED = 6


async def test_names_that_do_not_exist_are_not_kept_for_ever(
    qdrant_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aliases, "MAX_NAMES", 2)
    store = ServerStore.connect(qdrant_url, timeout=30.0)
    try:
        await store.ensure_collection("known", SPEC)
        for number in range(ASKED):
            name = f"unknown-{number}"
            assert await store.resolve(name) == name
            with pytest.raises(CollectionNotFound):
                await store.collection_info(name)
            assert await store.resolve(name) == name  # as after a search that failed
        assert len(store._aliases._cache) <= 2
        assert await store.count("known") == 0
    finally:
        await store.delete_collection("known")
        await store.close()
