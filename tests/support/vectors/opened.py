"""Stores opened as the servers open them, and what they say when nobody answers."""

from pathlib import Path

import pytest

from ctx_core.errors import StorageFailed
from ctx_core.vectors.factory import open_store
from ctx_core.vectors.protocol import VectorStore

NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens


async def opened(
    folder: Path,
    *,
    url: str | None = None,
    binary: Path | None = None,
    api_key: str | None = None,
    ca_cert: Path | None = None,
    seconds: float = 5.0,
) -> VectorStore:
    """Open a store; what is left out is not configured."""
    return await open_store(
        url=url, api_key=api_key, ca_cert=ca_cert, binary=binary, folder=folder, timeout=seconds
    )


async def failure(store: VectorStore) -> str:
    """Return why a store does not answer, and close it."""
    with pytest.raises(StorageFailed) as failed:
        await store.ping()
    await store.close()
    return failed.value.message
