"""The workspaces that are indexed, by the states and the manifest in the data folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.indexer.indexing.workspace_state import OWN_FOLDER, WorkspaceState, WorkspaceStates

if TYPE_CHECKING:
    from services.core.settings import Settings


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


async def indexed_workspaces(settings: "Settings") -> Sequence[IndexedWorkspace]:
    """Return every indexed workspace that still exists, by its path. Raises StorageFailed."""
    states = WorkspaceStates(settings.data_dir / OWN_FOLDER).own()
    if not states:
        return []
    from services.indexer.indexing.manifest import Manifest

    manifest = Manifest(settings.index_state_path)
    try:
        counts = await manifest.counts(settings.store_key)
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


def workspace_around(data_dir: Path, folder: Path) -> tuple[Path, WorkspaceState] | None:
    """Return the nearest indexed workspace that holds a folder with its state, None without one."""
    states = WorkspaceStates(data_dir / OWN_FOLDER).own()
    around = (each for each in (folder, *folder.parents) if each in states)
    return next(((each, states[each]) for each in around), None)
