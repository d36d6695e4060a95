"""The state of a workspace's index, in `.codebase/state.json` of the workspace."""

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
IGNORE_ALL = "# Written by ctx.\n*\n"
IN_PROGRESS, COMPLETED, FAILED = "in_progress", "completed", "failed"
MAX_STATE_BYTES = 65_536  # ctx writes a few hundred; a larger file is not its own

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


def read_state(workspace: Path) -> WorkspaceState | None:
    """Read the state of a workspace; None where no valid one is. Blocks."""
    file = workspace / STATE_FOLDER / STATE_FILE
    try:
        with file.open("rb") as opened:
            body = json.loads(opened.read(MAX_STATE_BYTES))
        known = {field.name for field in fields(WorkspaceState)}
        return WorkspaceState(**{key: value for key, value in body.items() if key in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def write_state(workspace: Path, state: WorkspaceState) -> None:
    """Write the state of a workspace atomically; a failure is only logged. Blocks."""
    folder = workspace / STATE_FOLDER
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(IGNORE_ALL, encoding="utf-8")
        replace_file(folder / STATE_FILE, json.dumps(asdict(state), indent=2) + "\n")
    except OSError as error:
        log.warning("%s cannot be written: %s", folder / STATE_FILE, error)


def start_state(workspace: Path, collection: str, repo: str) -> WorkspaceState:
    """Return the state of a workspace at the start of a run. Blocks."""
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
    )


def failed(state: WorkspaceState) -> WorkspaceState:
    """Return the state after a run that failed."""
    return replace(state, indexing_state=FAILED, updated_at=_now())


def find_workspaces(root: Path) -> Iterator[tuple[Path, WorkspaceState]]:
    """Find the workspaces at or below a folder, to a bounded depth and number. Blocks.

    Links are not followed.
    """
    pending = [(root, 0)]
    scanned = 0
    while pending and scanned < SCAN_FOLDERS:
        folder, depth = pending.pop()
        scanned += 1
        if (state := read_state(folder)) is not None:
            yield folder, state
        if depth < SCAN_DEPTH:
            pending += [(each, depth + 1) for each in _subfolders(folder)]


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    visible = {name for name in names if not name.startswith(".")}
    return [folder / name for name in sorted(visible - UNSCANNED_FOLDERS, reverse=True)]


def _now() -> str:
    return to_iso(utc_now(), "seconds")
