"""Open the vector store that the settings choose: a server, a child process, or embedded.

The server's client takes 1.4 CPU-seconds to import, so it is imported only where it is used.
"""

from pathlib import Path

from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.folder_lock import lock_folder
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.specs import UNDISTRIBUTED, Distribution

# Beside the embedded engine's collections, whose files differ.
CHILD_FOLDER = "server"


async def open_store(
    *,
    url: str | None,
    api_key: str | None,
    ca_cert: Path | None,
    binary: Path | None,
    folder: Path,
    timeout: float,  # noqa: ASYNC109 - of each request to a server, not of opening
    distribution: Distribution = UNDISTRIBUTED,
) -> VectorStore:
    """Open the store at the URL, else run the binary, else open the embedded engine.

    A server at a URL is not contacted before the first call, so that it may start later.
    Raises StorageFailed or FolderInUse.
    """
    if url:
        from ctx_core.vectors.server.store import ServerStore  # noqa: PLC0415 - slow to import

        return ServerStore.connect(
            url, api_key=api_key, ca_cert=ca_cert, timeout=timeout, distribution=distribution
        )
    if binary:
        return await _open_child(binary, folder, timeout)
    return await EdgeStore.open(folder)


async def _open_child(binary: Path, folder: Path, seconds: float) -> VectorStore:
    from ctx_core.vectors.server.child import QdrantChild  # noqa: PLC0415 - slow to import
    from ctx_core.vectors.server.store import ServerStore  # noqa: PLC0415

    lock = lock_folder(folder)
    try:
        child = await QdrantChild.start(binary, folder / CHILD_FOLDER)
    except BaseException:
        lock.release()
        raise

    async def stop() -> None:
        try:
            await child.stop()
        finally:
            lock.release()

    return ServerStore.connect(
        child.url,
        api_key=child.api_key,
        timeout=seconds,
        hint=f"the child process of QDRANT_BIN has ended, see {child.log}; start ctx again",
        proxies=False,
        on_close=stop,
    )
