"""The workspaces that are indexed, by the states and the manifest in the data folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.environment.config_file import MANIFEST_FILE, ConfigInvalid
from ctx_core.environment.connection import read_store_key
from ctx_indexer.indexing.workspace_state import OWN_FOLDER, WorkspaceState, WorkspaceStates


@dataclass(frozen=True)
class IndexedWorkspace:
    """A folder that was indexed: as which repo, where to, how much of it, and when."""

    path: str
    repo: str
    collection: str
    files: int
    chunks: int
    state: str
    last_indexed: str | None


async def indexed_workspaces(data_dir: Path) -> Sequence[IndexedWorkspace]:
    """Return every indexed workspace that still exists, by its path.

    Raises StorageFailed or SettingsInvalid.
    """
    states = WorkspaceStates(data_dir / OWN_FOLDER).own()
    if not states:
        return []
    from ctx_indexer.manifest.manifest import Manifest

    manifest = Manifest(data_dir / MANIFEST_FILE)
    try:
        counts = await manifest.checkouts.counts(_store_key())
    finally:
        manifest.close()
    found = []
    for path, state in states.items():
        files, chunks = counts.get((state.collection_name, state.repo, str(path)), (0, 0))
        found.append(
            IndexedWorkspace(
                str(path),
                state.repo,
                state.collection_name,
                files,
                chunks,
                state.indexing_state,
                state.last_indexed,
            )
        )
    return found


def _store_key() -> str:
    """Return the name of the configured Qdrant in the manifest."""
    try:
        if key := read_store_key():
            return key
    except ConfigInvalid:
        pass  # the check of all settings says what is wrong
    from ctx_core.settings import load

    return load().store_key


def workspace_around(data_dir: Path, folder: Path) -> tuple[Path, WorkspaceState] | None:
    """Return the nearest indexed workspace that holds a folder with its state, None without one."""
    states = WorkspaceStates(data_dir / OWN_FOLDER).own()
    around = (each for each in (folder, *folder.parents) if each in states)
    return next(((each, states[each]) for each in around), None)
