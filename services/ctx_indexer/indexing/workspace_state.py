"""The state of a workspace's index: in the data folder, and in `.codebase/state.json`."""

import contextlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, get_type_hints
from uuid import uuid4

from ctx_core.clock import to_iso, utc_now
from ctx_core.confined_folder import ConfinedFolder
from ctx_core.files import replace_file
from ctx_indexer.indexing.report import IndexReport, Progress

log = logging.getLogger(__name__)

STATE_FOLDER = ".codebase"
STATE_FILE = "state.json"
STATE_PATH = f"{STATE_FOLDER}/{STATE_FILE}"
OWN_FOLDER = "workspaces"  # of the data folder; a file for each workspace
IGNORE_ALL = "# Written by ctx.\n*\n"
IN_PROGRESS, COMPLETED, FAILED = "in_progress", "completed", "failed"
MAX_STATE_BYTES = 8_192  # ctx writes a few hundred; a larger file is not its own

# Bounds of a scan for workspaces: projects are a few folders below the one that holds them.
SCAN_DEPTH = 4
SCAN_FOLDERS = 20_000
UNSCANNED_FOLDERS = frozenset(
    ["node_modules", "__pycache__", "venv", "site-packages", "target", "proc"]
)


@dataclass(frozen=True)
class WorkspaceState:
    """The state of a workspace's index: the contract's fields and a few more."""

    workspace_id: str
    created_at: str
    last_indexed: str | None = None
    files_count: int = 0
    total_size_bytes: int = 0
    collection_name: str = ""
    repo: str = ""
    indexing_state: str = IN_PROGRESS
    updated_at: str = ""
    files_done: int = 0
    files_total: int = 0
    whole: bool = True  # not only a folder of it was ever indexed


_TYPES = get_type_hints(WorkspaceState)


class WorkspaceStates:
    """The states of workspaces: in a folder of ours, and in the workspaces themselves.

    A workspace may come from strangers: its own file is read as any file of it, and written only
    where its folder is a plain one. The state in our folder comes first.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, workspace: Path) -> WorkspaceState | None:
        """Read the state of a workspace; None where no valid one is. Blocks."""
        own = self._read_own(self._own_name(workspace))
        if own is not None and own[0] == workspace:
            return own[1]
        return _read_shared(workspace)

    def write(self, workspace: Path, state: WorkspaceState) -> None:
        """Write the state of a workspace, atomically; a failure is only logged. Blocks."""
        body = asdict(state)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            own = json.dumps({"workspace_path": str(workspace), **body}, indent=2)
            replace_file(self._folder / self._own_name(workspace), own + "\n")
        except (OSError, UnicodeError) as error:
            log.warning("the state of %s cannot be written: %s", workspace, error)
        try:
            _write_shared(workspace, json.dumps(body, indent=2) + "\n")
        except OSError as error:
            log.warning("%s of %s is not written: %s", STATE_PATH, workspace, error)

    def start(self, workspace: Path, collection: str, repo: str) -> WorkspaceState:
        """Return the state of a workspace at the start of a run. Blocks."""
        now = _now()
        before = self.read(workspace) or WorkspaceState(str(uuid4()), now)
        return replace(
            before,
            collection_name=collection,
            repo=repo,
            indexing_state=IN_PROGRESS,
            updated_at=now,
            files_done=0,
            files_total=0,
        )

    def find(self, root: Path) -> dict[Path, WorkspaceState]:
        """Find the workspaces at or below a folder, to a bounded depth and number. Blocks.

        Links are not followed.
        """
        own = {path: state for path, state in self.own().items() if path.is_relative_to(root)}
        return dict(sorted({**dict(_scan(root)), **own}.items()))

    def own(self) -> dict[Path, WorkspaceState]:
        """Return the workspaces that our folder knows and that still exist, by path. Blocks."""
        read = [self._read_own(name) for name in _names(self._folder)]
        return dict(sorted(each for each in read if each and each[0].is_dir()))

    def remove(self, workspace: Path, collection: str) -> None:
        """Forget a workspace, here and in its own folder, if it was last indexed there. Blocks."""
        state = self.read(workspace)
        if state is None or state.collection_name != collection:
            return
        (self._folder / self._own_name(workspace)).unlink(missing_ok=True)
        with contextlib.suppress(OSError), ConfinedFolder(workspace) as folder:
            folder.remove(STATE_PATH)

    def _own_name(self, workspace: Path) -> str:
        digest = blake2b(os.fsencode(workspace), digest_size=16)
        return f"{digest.hexdigest()}.json"

    def _read_own(self, name: str) -> tuple[Path, WorkspaceState] | None:
        body = _read(self._folder, name)
        state = _state(body)
        return (Path(str(body["workspace_path"])), state) if state and body else None


def _read_shared(workspace: Path) -> WorkspaceState | None:
    return _state(_read(workspace, STATE_PATH))


def _write_shared(workspace: Path, text: str) -> None:
    with ConfinedFolder(workspace) as folder:
        folder.make_folder(STATE_FOLDER)
        ignore = f"{STATE_FOLDER}/.gitignore"
        try:
            folder.status(ignore)
        except FileNotFoundError:
            folder.replace(ignore, IGNORE_ALL)
        folder.replace(STATE_PATH, text)


def _read(root: Path, path: str) -> dict[str, Any] | None:
    try:
        with ConfinedFolder(root) as folder:
            body = json.loads(folder.read(path, MAX_STATE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _state(body: Mapping[str, Any] | None) -> WorkspaceState | None:
    """Build a state of the known fields; None where one is missing or of another type."""
    if body is None:
        return None
    known = {name: value for name, value in body.items() if name in _TYPES}
    if not all(isinstance(value, _TYPES[name]) for name, value in known.items()):
        return None
    try:
        return WorkspaceState(**known)
    except TypeError:  # one that it cannot do without is missing
        return None


def with_progress(state: WorkspaceState, progress: Progress) -> WorkspaceState:
    """Return the state with the progress of a run."""
    return replace(state, updated_at=_now(), files_done=progress.done, files_total=progress.total)


def completed(state: WorkspaceState, report: IndexReport) -> WorkspaceState:
    """Return the state after a run that completed."""
    now = _now()
    return replace(
        state,
        last_indexed=now,
        updated_at=now,
        files_count=report.files,
        total_size_bytes=report.size,
        indexing_state=COMPLETED,
        files_done=report.written,
        files_total=report.written,
        whole=not report.subdir or (state.last_indexed is not None and state.whole),
    )


def failed(state: WorkspaceState) -> WorkspaceState:
    """Return the state after a run that failed."""
    return replace(state, indexing_state=FAILED, updated_at=_now())


def _scan(root: Path) -> Iterator[tuple[Path, WorkspaceState]]:
    """Find workspaces by their own state files."""
    pending = [(root, 0)]
    scanned = 0
    while pending and scanned < SCAN_FOLDERS:
        folder, depth = pending.pop()
        scanned += 1
        if (state := _read_shared(folder)) is not None:
            yield folder, state
        if depth < SCAN_DEPTH:
            pending += [(each, depth + 1) for each in _subfolders(folder)]


def _subfolders(folder: Path) -> list[Path]:
    try:
        with ConfinedFolder(folder) as opened:
            names = {entry.name for entry in opened.entries() if entry.is_folder}
    except OSError:
        return []
    visible = {name for name in names if not name.startswith(".")}
    return [folder / name for name in sorted(visible - UNSCANNED_FOLDERS, reverse=True)]


def _names(folder: Path) -> list[str]:
    try:
        with ConfinedFolder(folder) as opened:
            return [entry.name for entry in opened.entries() if entry.name.endswith(".json")]
    except OSError:
        return []


def _now() -> str:
    return to_iso(utc_now(), "seconds")
