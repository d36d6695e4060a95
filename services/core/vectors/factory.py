"""Which Qdrant to use: the one at a URL, a child of ours, or the embedded one.

The server's client takes 1.4 CPU-seconds to import, so only who needs it does.
"""

from pathlib import Path

from services.core.vectors.edge.store import EdgeStore
from services.core.vectors.folder_lock import own
from services.core.vectors.protocol import VectorStore

# Beside the embedded engine's collections: their files are not the same.
CHILD_FOLDER = "server"


async def open_store(
    *,
    url: str | None,
    api_key: str | None,
    ca_cert: Path | None,
    binary: Path | None,
    folder: Path,
    timeout: float,  # noqa: ASYNC109 - of each request to a server, not of opening
) -> VectorStore:
    """QDRANT_URL, else QDRANT_BIN, else embedded. Nothing is looked for uninvited.

    A server at a URL is not asked yet, so that it may start later than we do: `ping` asks it.
    """
    if url:
        from services.core.vectors.server.store import ServerStore  # noqa: PLC0415 - see the top

        return ServerStore.connect(url, api_key=api_key, ca_cert=ca_cert, timeout=timeout)
    if binary:
        return await _open_child(binary, folder, timeout)
    return await EdgeStore.open(folder)


async def _open_child(binary: Path, folder: Path, seconds: float) -> VectorStore:
    from services.core.vectors.server.child import QdrantChild  # noqa: PLC0415 - see the top
    from services.core.vectors.server.store import ServerStore  # noqa: PLC0415

    ownership = own(folder)
    try:
        child = await QdrantChild.start(binary, folder / CHILD_FOLDER)
    except BaseException:
        ownership.release()
        raise

    async def end() -> None:
        try:
            await child.stop()
        finally:
            ownership.release()

    return ServerStore.connect(
        child.url,
        api_key=child.api_key,
        timeout=seconds,
        hint=f"the child process of QDRANT_BIN has ended, see {child.log}; start ctx again",
        proxies=False,
        on_close=end,
    )
