"""The state file of a workspace, and the scan for workspaces."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ctx_core.errors import InvalidInput
from ctx_indexer.indexing.workspace_state import (
    SCAN_DEPTH,
    STATE_FILE,
    STATE_FOLDER,
    WorkspaceStates,
)
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function


@pytest.fixture
def states(tmp_path: Path) -> WorkspaceStates:
    return WorkspaceStates(tmp_path / "data" / "workspaces")


@pytest.fixture
def stranger(tmp_path: Path) -> WorkspaceStates:
    """Another machine's: it knows only what the workspaces themselves say."""
    return WorkspaceStates(tmp_path / "elsewhere")


def put_state(states: WorkspaceStates, folder: Path, collection: str = "code") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    states.write(folder, states.start(folder, collection, "repo"))


def test_the_state_comes_back_and_git_does_not_see_it(
    states: WorkspaceStates, stranger: WorkspaceStates, repository: Repository
) -> None:
    put_state(states, repository.root)
    state = states.read(repository.root)
    assert state is not None
    assert stranger.read(repository.root) == state
    assert (state.collection_name, state.indexing_state) == ("code", "in_progress")
    assert repository.git("status", "--short") == ""
    assert sorted(p.name for p in (repository.root / STATE_FOLDER).iterdir()) == [
        ".gitignore",
        STATE_FILE,
    ]
    again = states.start(repository.root, "other", "repo")
    assert again.workspace_id == state.workspace_id
    assert again.created_at == state.created_at


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"unknown": 1}',
        "null",
        "\x00",
        "[" * 5000,
        '{"workspace_id": 1, "created_at": "x"}',
        json.dumps({"workspace_id": "x" * 9000, "created_at": "x"}),
    ],
)
def test_a_state_that_is_not_ours_is_none(
    states: WorkspaceStates, tmp_path: Path, content: str
) -> None:
    (tmp_path / STATE_FOLDER).mkdir()
    (tmp_path / STATE_FOLDER / STATE_FILE).write_text(content)
    assert states.read(tmp_path) is None
    assert states.find(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_no_failure(
    states: WorkspaceStates, stranger: WorkspaceStates, tmp_path: Path
) -> None:
    (tmp_path / STATE_FOLDER).write_text("a file where the folder should be")
    put_state(states, tmp_path)
    assert states.read(tmp_path) is not None
    assert list(states.find(tmp_path)) == [tmp_path]
    assert stranger.read(tmp_path) is None


def test_a_link_in_place_of_the_folder_leads_nowhere(
    states: WorkspaceStates, stranger: WorkspaceStates, tmp_path: Path
) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (outside / STATE_FILE).write_text("precious")
    (workspace / STATE_FOLDER).symlink_to(outside)
    put_state(states, workspace)
    assert (outside / STATE_FILE).read_text() == "precious"
    assert [path.name for path in outside.iterdir()] == [STATE_FILE]
    assert states.read(workspace) is not None


def test_links_in_place_of_its_files_are_replaced(
    states: WorkspaceStates, stranger: WorkspaceStates, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / STATE_FOLDER).mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (workspace / STATE_FOLDER / STATE_FILE).symlink_to(precious)
    (workspace / STATE_FOLDER / ".gitignore").symlink_to(tmp_path / "missing")
    put_state(states, workspace)
    assert precious.read_text() == "precious"
    assert not (tmp_path / "missing").exists()
    assert stranger.read(workspace) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.timeout(20)
def test_a_pipe_as_state_does_not_block(states: WorkspaceStates, tmp_path: Path) -> None:
    (tmp_path / "neighbour" / STATE_FOLDER).mkdir(parents=True)
    os.mkfifo(tmp_path / "neighbour" / STATE_FOLDER / STATE_FILE)
    assert states.find(tmp_path) == {}
    assert states.read(tmp_path / "neighbour") is None


def test_the_scan_is_bounded_and_follows_no_links(
    states: WorkspaceStates, stranger: WorkspaceStates, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    deep = root / "/".join("d" * SCAN_DEPTH)
    for folder in (root, root / "b", root / "a", deep, deep / "deeper", tmp_path / "outside"):
        put_state(states, folder)
    put_state(states, root / "node_modules" / "package")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    assert list(stranger.find(root)) == [root, root / "a", root / "b", deep]


def test_our_own_states_are_found_wherever_they_lie(
    states: WorkspaceStates, tmp_path: Path
) -> None:
    inside, gone = tmp_path / "root/node_modules/package", tmp_path / "root/gone"
    for folder in (inside, gone, tmp_path / "outside"):
        put_state(states, folder)
    shutil.rmtree(gone)
    assert list(states.find(tmp_path / "root")) == [inside]


async def test_a_run_writes_the_state(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    report = await bench.index(repository.root)
    body = json.loads((repository.root / STATE_FOLDER / STATE_FILE).read_text())
    assert body["indexing_state"] == "completed"
    assert body["collection_name"] == bench.collection
    assert (body["files_count"], body["total_size_bytes"]) == (1, report.size)
    assert body["last_indexed"].endswith("Z")
    assert (await bench.index(repository.root)).unchanged == 1  # the state itself is not indexed


async def test_a_failed_run_is_recorded(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    with pytest.raises(InvalidInput):
        await bench.index(repository.root, collection="not/a/name")
    state = bench.indexer.states.read(repository.root)
    assert state is not None
    assert state.indexing_state == "failed"
