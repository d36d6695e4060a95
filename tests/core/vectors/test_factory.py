"""Opening the store that the settings choose."""

from pathlib import Path

import pytest

from ctx_core.errors import StorageFailed
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.folder_lock import folder_owner
from ctx_core.vectors.server.store import ServerStore
from tests.support.vectors.opened import opened
from tests.support.vectors.samples import SPEC


async def test_a_url_comes_first(folder: Path, qdrant_url: str) -> None:
    store = await opened(folder, url=qdrant_url, binary=Path("/no/such/binary"))
    assert isinstance(store, ServerStore)
    assert store.engine == f"server ({qdrant_url})"
    await store.ping()
    await store.close()
    assert folder_owner(folder) is None


async def test_a_binary_comes_before_the_embedded_one(folder: Path) -> None:
    with pytest.raises(StorageFailed, match="QDRANT_BIN=/no/such/binary"):
        await opened(folder, binary=Path("/no/such/binary"))
    assert folder_owner(folder) is None


async def test_embedded_without_settings(folder: Path) -> None:
    store = await opened(folder)
    assert isinstance(store, EdgeStore)
    assert store.engine == f"embedded ({folder})"
    await store.ensure_collection("c", SPEC)
    assert await store.count("c") == 0
    await store.close()
