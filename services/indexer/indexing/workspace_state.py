"""The state of a workspace's index, kept in `.codebase/state.json` of the workspace."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from uuid import uuid4

from services.core.clock import to_iso, utc_now
from services.core.files import replace_file
from services.indexer.indexing.report import IndexReport, Progress

log = logging.getLogger(__name__)

STATE_FOLDER = ".codebase"
STATE_FILE = "state.json"
IGNORE_ALL = "# Kept by ctx for itself.\n*\n"
IN_PROGRESS, COMPLETED, FAILED = "in_progress", "completed", "failed"
MAX_STATE_BYTES = 65_536  # ours has a few hundred; a larger one is somebody else's

# A scan for workspaces: projects lie a few folders below the one they are kept in.
SCAN_DEPTH = 4
SCAN_FOLDERS = 20_000
UNSCANNED = frozenset(["node_modules", "__pycache__", "venv", "site-packages", "target", "proc"])


@dataclass(frozen=True)
class WorkspaceState:
    """What a workspace remembers of its index, in the contract's words and a few more."""

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


def read_state(workspace: Path) -> WorkspaceState | None:
    """The state of a workspace; None where there is none that can be read."""
    file = workspace / STATE_FOLDER / STATE_FILE
    try:
        with file.open("rb") as opened:
            body = json.loads(opened.read(MAX_STATE_BYTES))
        known = {field.name for field in fields(WorkspaceState)}
        return WorkspaceState(**{key: value for key, value in body.items() if key in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def write_state(workspace: Path, state: WorkspaceState) -> None:
    """Atomically; a workspace that may not be written to is indexed all the same."""
    folder = workspace / STATE_FOLDER
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(IGNORE_ALL, encoding="utf-8")
        replace_file(folder / STATE_FILE, json.dumps(asdict(state), indent=2) + "\n")
    except OSError as error:
        log.warning("%s cannot be written: %s", folder / STATE_FILE, error)


def started(workspace: Path, collection: str, repo: str) -> WorkspaceState:
    """The state at the start of a run."""
    now = _now()
    before = read_state(workspace) or WorkspaceState(str(uuid4()), now)
    return replace(
        before,
        collection_name=collection,
        repo=repo,
        indexing_state=IN_PROGRESS,
        updated_at=now,
        files_done=0,
        files_total=0,
    )


def advanced(state: WorkspaceState, progress: Progress) -> WorkspaceState:
    return replace(state, updated_at=_now(), files_done=progress.done, files_total=progress.total)


def completed(state: WorkspaceState, report: IndexReport) -> WorkspaceState:
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
    )


def failed(state: WorkspaceState) -> WorkspaceState:
    return replace(state, indexing_state=FAILED, updated_at=_now())


def find_workspaces(root: Path) -> Iterator[tuple[Path, WorkspaceState]]:
    """Every workspace at or below a folder; links are not followed, depth and number bounded."""
    waiting = [(root, 0)]
    looked_at = 0
    while waiting and looked_at < SCAN_FOLDERS:
        folder, depth = waiting.pop()
        looked_at += 1
        if (state := read_state(folder)) is not None:
            yield folder, state
        if depth < SCAN_DEPTH:
            waiting += [(each, depth + 1) for each in _folders(folder)]


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    wanted = (name for name in names if not name.startswith(".") and name not in UNSCANNED)
    return [folder / name for name in sorted(wanted, reverse=True)]


def _now() -> str:
    return to_iso(utc_now(), "seconds")
