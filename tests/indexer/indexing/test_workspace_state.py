"""The state file of a workspace, and the scan for workspaces."""

import json
from pathlib import Path

import pytest

from services.core.errors import InvalidInput
from services.indexer.indexing.workspace_state import (
    SCAN_DEPTH,
    STATE_FILE,
    STATE_FOLDER,
    find_workspaces,
    read_state,
    start_state,
    write_state,
)
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function


def put_state(folder: Path, collection: str = "code") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_state(folder, start_state(folder, collection, "repo"))


def test_the_state_comes_back_and_git_does_not_see_it(repository: Repository) -> None:
    put_state(repository.root)
    state = read_state(repository.root)
    assert state is not None
    assert (state.collection_name, state.indexing_state) == ("code", "in_progress")
    assert repository.git("status", "--short") == ""
    assert sorted(p.name for p in (repository.root / STATE_FOLDER).iterdir()) == [
        ".gitignore",
        STATE_FILE,
    ]
    again = start_state(repository.root, "other", "repo")
    assert again.workspace_id == state.workspace_id
    assert again.created_at == state.created_at


@pytest.mark.parametrize("content", ["", "[]", "{", '{"unknown": 1}', "null", "\x00"])
def test_a_state_that_is_not_ours_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / STATE_FOLDER).mkdir()
    (tmp_path / STATE_FOLDER / STATE_FILE).write_text(content)
    assert read_state(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / STATE_FOLDER).write_text("a file where the folder should be")
    put_state(tmp_path)
    assert read_state(tmp_path) is None


def test_the_scan_is_bounded_and_follows_no_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    deep = root / "/".join("d" * SCAN_DEPTH)
    for folder in (root, root / "b", root / "a", deep, deep / "deeper", tmp_path / "outside"):
        put_state(folder)
    put_state(root / "node_modules" / "package")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    assert [path for path, _ in find_workspaces(root)] == [root, root / "a", root / "b", deep]


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
    state = read_state(repository.root)
    assert state is not None
    assert state.indexing_state == "failed"
