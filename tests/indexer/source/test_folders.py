"""The folders that are watched, and narrow lists of files, against the whole list."""

import os
from pathlib import Path

import pytest

from ctx_indexer.source.folders import GIT_FILES, list_folders, rule_places
from ctx_indexer.source.listing import list_files
from ctx_indexer.source.selection import Selection
from tests.indexer.source.test_walk import git, put

MANY = 1_000


@pytest.fixture(params=["git", "plain"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    if request.param == "git":
        git(root, "init", "-q")
    return root


def listed(root: Path, *paths: str) -> set[str]:
    return {os.fsdecode(path) for path in list_files(root, paths or None)}


def folders(root: Path, *paths: str) -> set[str]:
    return list_folders(root, MANY, paths or None).paths


@pytest.fixture
def tree(folder: Path) -> Path:
    files = [
        "a.py",
        "src/b.py",
        "src/deep/c.py",
        "src2/d.py",
        "build/only.o",
        "node_modules/pkg/index.js",
        "out/x.py",
        "docs/private/p.md",
        "docs/q.md",
        "cache/CACHEDIR.TAG",
        "cache/inner/f.py",
        "env/pyvenv.cfg",
        "tool/.gitignore",
        "tool/x.py",
        "src/.ctxignore",
        "src/gen/g.py",
    ]
    put(folder, dict.fromkeys(files, "x\n"))
    put(folder, {".gitignore": "*.o\n/out/\n", ".ctxignore": "private/\n"})
    put(folder, {"tool/.gitignore": "# of a tool\n*\n", "src/.ctxignore": "gen/\n"})
    (folder / "empty").mkdir()
    return folder


def test_only_folders_that_are_not_ignored_are_listed(tree: Path) -> None:
    marked = {"cache", "cache/inner", "env"} if (tree / ".git").exists() else set()
    others = {"", "src", "src/deep", "src2", "build", "docs", "empty"}
    assert folders(tree) == others | marked  # as git lists the files in them


def test_a_folder_with_tracked_files_is_listed_whatever_ignores_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    put(tmp_path, {"out/deep/x.py": "x", ".gitignore": "out/\n", "node_modules/y.js": "y"})
    git(tmp_path, "add", "-f", "out/deep/x.py", "node_modules/y.js")
    assert folders(tmp_path) == {"", "out", "out/deep", "node_modules"}


def test_the_folders_of_a_part_are_those_of_the_whole(tree: Path) -> None:
    put(tree, {"src/new/inner/n.py": "x", "src/node_modules/z.js": "x"})
    assert folders(tree, "src/new") == {"", "src", "src/new", "src/new/inner"}
    assert folders(tree, "src/node_modules") == {"", "src"}
    assert folders(tree, "out", "gone") == {""}


def test_folders_are_bounded(tree: Path) -> None:
    found = list_folders(tree, 3)
    assert not found.complete
    assert len(found.paths | found.closed) == 3
    assert found.paths < folders(tree)


def test_folders_that_their_own_files_keep_out_are_told(tree: Path) -> None:
    marked = set() if (tree / ".git").exists() else {"cache", "env"}
    assert list_folders(tree, MANY).closed == {"tool", *marked}
    assert list_folders(tree, MANY, ["tool"]).closed == {"tool"}
    (tree / "tool/.gitignore").unlink()
    assert "tool" in folders(tree)


def test_links_are_no_folders(tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, {"a.py": "x"})
    put(tmp_path, {"outside/b.py": "x"})
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "self").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert folders(root) == {""}


def test_another_repository_inside_is_not_watched_and_a_submodule_is(tmp_path: Path) -> None:
    library, root = tmp_path / "library", tmp_path / "root"
    for each in (library, root):
        each.mkdir()
        git(each, "init", "-q")
    put(library, {"lib/l.py": "x"})
    git(library, "add", "-A")
    git(library, "commit", "-qm", "x")
    git(root, "submodule", "add", "-q", str(library), "vendor/lib")
    put(root, {"own/deep/o.py": "x", "own/a.py": "x"})
    git(root / "own", "init", "-q")
    assert folders(root) == {"", "vendor", "vendor/lib", "vendor/lib/lib"}
    assert listed(root, "vendor/lib/lib/l.py") == {"vendor/lib/lib/l.py"}
    assert listed(root, "vendor") == {"vendor/lib/lib/l.py"}
    assert listed(root, "own/a.py") == set()


@pytest.mark.parametrize(
    "paths",
    [
        ["a.py"],
        ["src"],
        ["src/gen/g.py", "src/b.py"],
        ["out/x.py", "docs/private/p.md", "docs/q.md"],
        ["node_modules", "tool", "cache/inner/f.py"],
        ["src/.ctxignore", ".ctxignore", ".gitignore"],
        ["gone.py", "gone/folder"],
        ["src2/d.py/inside", ":(glob)**"],
        [f"n{number}.py" for number in range(300)] + ["a.py"],
    ],
)
def test_a_narrow_list_is_the_part_of_the_whole_one(tree: Path, paths: list[str]) -> None:
    chosen = Selection(paths)
    assert listed(tree, *paths) == {path for path in listed(tree) if chosen.holds(path)}


def test_a_folder_of_a_repository_is_listed_with_the_rules_above_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    put(tmp_path, {".gitignore": "*.log\n/part/out/\n"})
    put(tmp_path, {"part/a.py": "x", "part/a.log": "x", "part/out/b.py": "x"})
    part = tmp_path / "part"
    assert listed(part, "a.py", "a.log", "out") == {"a.py"}
    assert folders(part) == {""}
    own = tmp_path.resolve() / ".git"
    assert rule_places(part) == {
        tmp_path.resolve(): {".gitignore"},
        own: GIT_FILES,
        own / "info": {"exclude"},
    }


def test_git_has_a_folder_of_its_own_for_each_worktree(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    assert rule_places(root) == {}
    git(root, "init", "-q")
    put(root, {"a.py": "x"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    own = root.resolve() / ".git"
    assert rule_places(root) == {own: GIT_FILES, own / "info": {"exclude"}}
    assert rule_places(tmp_path / "tree") == {
        own: {"config"},
        own / "info": {"exclude"},
        own / "worktrees" / "tree": GIT_FILES,
    }
