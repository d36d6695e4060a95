"""Paths of repos as callers know them, and back."""

from pathlib import Path

import pytest

from ctx_core.errors import InvalidInput
from ctx_indexer.view.paths import Paths

PATHS = Paths(
    {"shop": Path("/work"), "lib": Path("/work/lib"), "other": Path("/other")},
    Path("/work"),
    "/home/me/work",
)


@pytest.mark.parametrize(
    ("repo", "shown"),
    [("shop", "src/a.py"), ("lib", "lib/src/a.py"), ("other", "/other/src/a.py")],
)
def test_a_shown_path_leads_back_to_its_repo(repo: str, shown: str) -> None:
    assert PATHS.shown(repo, "src/a.py") == shown
    assert (repo, "src/a.py") in PATHS.located(shown)


def test_paths_of_the_host_and_of_the_workspace_are_the_same() -> None:
    assert PATHS.located("/home/me/work/lib/a.py") == [("lib", "a.py")]
    assert PATHS.located("/work/lib/a.py") == [("lib", "a.py")]
    assert PATHS.place("/home/me/work/lib/../src") == Path("/work/src")
    assert PATHS.pattern("/home/me/work/lib/**") == "lib/**"


def test_repos_outside_of_the_workspace_are_not_of_it() -> None:
    assert PATHS.repos_of_workspace() == ("lib", "shop")
    assert PATHS.shown_folders() == {"lib": "lib", "other": "other"}


@pytest.mark.parametrize(
    ("folder", "named", "found"),
    [
        ("src", [], [("shop", "src")]),  # the repo at the workspace
        ("src", ["lib"], [("lib", "src")]),
        ("lib", [], [("lib", "")]),
        ("/other/src", [], [("other", "src")]),
        (".", [], [("shop", ""), ("lib", "")]),
    ],
)
def test_a_folder_is_one_of_a_repo(
    folder: str, named: list[str], found: list[tuple[str, str]]
) -> None:
    assert PATHS.folders(folder, named) == found


def test_wrong_folders_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"must not contain '\.\.'"):
        PATHS.folders("src/../..", [])
    with pytest.raises(InvalidInput, match="/nowhere is not indexed"):
        PATHS.folder_in("/nowhere", "src")
    assert PATHS.folder_in("/other", "src") == "/other/src"
    assert PATHS.folder_in("/home/me/work", None) == ""
