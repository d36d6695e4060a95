"""Workspaces: paths are confined to them."""

from functools import partial
from pathlib import Path

import pytest

from ctx_core.errors import InvalidInput
from ctx_indexer.source.workspace import WorkspacePath, Workspaces
from tests.support.repositories import Repository


@pytest.mark.parametrize("given", ["..", "a/../..", "/etc", "link", "a/../../elsewhere"])
def test_what_lies_outside_is_refused(tmp_path: Path, given: str) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="outside"):
        Workspaces(root).locate("subdir", given)


def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root-2").mkdir()
    with pytest.raises(InvalidInput, match="outside"):
        Workspaces(tmp_path / "root").inside("subdir", str(tmp_path / "root-2"))


def test_a_file_or_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for given in ("file", "nothing"):
        with pytest.raises(InvalidInput, match="not a folder"):
            Workspaces(tmp_path).inside("subdir", given)


def test_a_folder_belongs_to_the_nearest_repository(tmp_path: Path) -> None:
    inner = Repository.create(tmp_path / "projects" / "inner")
    inner.write("src/deep/a.py", "x = 1\n")
    (tmp_path / "projects" / "plain").mkdir()
    workspaces = Workspaces(tmp_path / "projects")
    root = workspaces.root
    locate = partial(workspaces.locate, "subdir")
    assert locate("") == WorkspacePath(root, "")
    assert locate("plain") == WorkspacePath(root, "plain")
    assert locate("inner") == WorkspacePath(root / "inner", "")
    assert locate("inner/src/deep") == WorkspacePath(root / "inner", "src/deep")
    assert locate(str(inner.root)) == WorkspacePath(root / "inner", "")


def test_more_roots_may_be_used(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    two = tmp_path / "two"
    assert Workspaces(tmp_path / "one", [two]).locate("subdir", str(two)) == WorkspacePath(two, "")
