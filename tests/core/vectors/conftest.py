"""Fixtures of the store tests: `store` is the embedded engine, then a server."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest
import pytest_asyncio

from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.server.store import ServerStore
from tests.support.qdrant import memory
from tests.support.vectors.samples import POINTS, SPEC


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["edge", "server"])
async def store(
    request: pytest.FixtureRequest,
) -> AsyncIterator[VectorStore]:
    opened: VectorStore
    with TemporaryDirectory(prefix="ctx-edge-", dir=memory()) as folder:
        if request.param == "edge":
            opened = await EdgeStore.open(Path(folder))
        else:
            opened = ServerStore.connect(request.getfixturevalue("qdrant_url"), timeout=30.0)
        yield opened
        await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(store: VectorStore) -> AsyncIterator[str]:
    """A collection of the samples, which tests only read."""
    name = f"filled-{uuid4().hex}"
    await store.ensure_collection(name, SPEC)
    await store.upsert(name, POINTS)
    yield name
    await store.delete_collection(name)


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(store: VectorStore) -> AsyncIterator[str]:
    """The name of a collection that does not exist; it is deleted after the test."""
    name = f"fresh.{uuid4().hex}"
    yield name
    await store.delete_collection(name)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for a store, not created yet."""
    with TemporaryDirectory(prefix="ctx-folder-", dir=memory()) as parent:
        yield Path(parent) / "data"
