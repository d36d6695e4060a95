"""Saves as editors make them, folders that come and go, rules that change, switches of branches."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctx_core.settings import Settings
from tests.indexer.watch.conftest import Start
from tests.support.repositories import Repository, function

# watchdog's observer of Linux loses folders that are moved out of a tree and back: of it is tested
# what other systems have in common with it.
BOTH = pytest.mark.parametrize("source", ["inotify", "observer"], indirect=True)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", collection_name="code", workspace=tmp_path)


def write_in_place(path: Path, text: str) -> None:
    path.write_text(text)


def rename_over(path: Path, text: str) -> None:
    """As most editors save: a new file takes the name of the old one."""
    partial = path.with_name(f".{path.name}.tmp123")
    partial.write_text(text)
    partial.replace(path)


def with_backup(path: Path, text: str) -> None:
    """As vim saves: the old file becomes a backup, which goes when the new one is written."""
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def truncate_first(path: Path, text: str) -> None:
    os.truncate(path, 0)
    with path.open("a") as file:
        for line in text.splitlines(keepends=True):
            file.write(line)
            file.flush()


def replace_keeping_the_time(path: Path, text: str) -> None:
    """As `cp -p` and `rsync -t` do, here even with the size that the file had."""
    status = path.stat()
    partial = path.with_name("partial")
    partial.write_text(text)
    os.utime(partial, ns=(status.st_atime_ns, status.st_mtime_ns))
    partial.replace(path)


@BOTH
@pytest.mark.parametrize(
    "save",
    [write_in_place, rename_over, with_backup, truncate_first, replace_keeping_the_time],
)
async def test_saves(
    start: Start, repository: Repository, save: Callable[[Path, str], None]
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("src/b.py", function("bravo"))
    watching = await start()
    for name in ("delta", "hotel"):
        save(repository.root / "src/b.py", function(name))
        await watching.until_texts({"a.py": "alpha", "src/b.py": name})
    assert all(update.report.unchanged < 2 for update in watching.updates)


@BOTH
async def test_files_that_come_go_and_move(start: Start, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    watching = await start()
    repository.write("b.py", function("bravo"))
    await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})
    (repository.root / "b.py").rename(repository.root / "c.py")
    await watching.until_texts({"a.py": "alpha", "c.py": "bravo"})
    repository.remove("c.py")
    await watching.until_texts({"a.py": "alpha"})


async def test_folders_that_come_go_and_move(start: Start, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    watching = await start()
    root = repository.root
    repository.write("new/deep/b.py", function("bravo"))
    await watching.until_texts({"a.py": "alpha", "new/deep/b.py": "bravo"})
    (root / "new").rename(root / "moved")
    await watching.until_texts({"a.py": "alpha", "moved/deep/b.py": "bravo"})
    repository.write("moved/deep/b.py", function("delta"))
    repository.write("moved/deep/deeper/c.py", function("charlie"))
    await watching.until_texts(
        {"a.py": "alpha", "moved/deep/b.py": "delta", "moved/deep/deeper/c.py": "charlie"}
    )
    outside = root.parent / "outside"
    (root / "moved/deep").rename(outside)
    await watching.until_texts({"a.py": "alpha"})
    (outside / "b.py").write_text(function("echo"))
    outside.rename(root / "back")
    await watching.until_texts(
        {"a.py": "alpha", "back/b.py": "echo", "back/deeper/c.py": "charlie"}
    )
    shutil.rmtree(root / "back")
    await watching.until_texts({"a.py": "alpha"})


@BOTH
async def test_rules_that_change(start: Start, repository: Repository) -> None:
    repository.write(".gitignore", "*.gen.py\nout/\n")
    repository.write("a.py", function("alpha"))
    repository.write("b.gen.py", function("bravo"))
    repository.write("out/c.py", function("charlie"))
    watching = await start()
    ignore = {".gitignore": "", "a.py": "alpha"}
    await watching.until_texts(ignore)
    repository.write("b.gen.py", function("brave"))  # an ignored file changes
    repository.write(".gitignore", "*.gen.py\n")
    await watching.until_texts({**ignore, "out/c.py": "charlie"})
    repository.write("out/d.py", function("delta"))  # in a folder that was not watched before
    await watching.until_texts({**ignore, "out/c.py": "charlie", "out/d.py": "delta"})
    repository.write(".ctxignore", "out/\n!b.gen.py\n")
    await watching.until_texts({**ignore, ".ctxignore": "out"})
    repository.write(".gitignore", "# nothing\n")
    await watching.until_texts({**ignore, ".ctxignore": "out", "b.gen.py": "brave"})
    repository.remove(".ctxignore")
    await watching.until_texts(
        {**ignore, "b.gen.py": "brave", "out/c.py": "charlie", "out/d.py": "delta"}
    )


@BOTH
async def test_a_folder_that_its_own_files_keep_out_belongs_once_they_go(
    start: Start, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("tool/.gitignore", "*\n")
    repository.write("tool/b.py", function("bravo"))
    inner = Repository.create(repository.root / "inner")
    inner.write("c.py", function("charlie"))
    watching = await start()
    await watching.until_texts({"a.py": "alpha"})
    repository.write("tool/.gitignore", "*.log\n")
    opened = {"a.py": "alpha", "tool/.gitignore": "log", "tool/b.py": "bravo"}
    await watching.until_texts(opened)
    repository.write("tool/d.py", function("delta"))  # in a folder that was closed before
    await watching.until_texts({**opened, "tool/d.py": "delta"})
    shutil.rmtree(inner.root / ".git")
    await watching.until_texts({**opened, "tool/d.py": "delta", "inner/c.py": "charlie"})
    repository.write("tool/.gitignore", "*\n")
    await watching.until_texts({"a.py": "alpha", "inner/c.py": "charlie"})
    repository.write("late/.gitignore", "*\n")
    repository.write("late/e.py", function("echo"))
    repository.write("a.py", function("again"))
    await watching.until_texts({"a.py": "again", "inner/c.py": "charlie"})
    repository.remove("late/.gitignore")
    await watching.until_texts({"a.py": "again", "inner/c.py": "charlie", "late/e.py": "echo"})


@BOTH
async def test_rules_outside_of_the_workspace(
    start: Start, repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("b.py", function("bravo"))
    shutil.rmtree(repository.root / ".git")
    above = Repository(repository.root.parent)
    above.git("init", "-q")
    watching = await start()
    await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})
    above.write(".gitignore", "b.py\n")
    await watching.until_texts({"a.py": "alpha"})
    above.remove(".gitignore")
    await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})


@BOTH
async def test_excludes_that_a_worktree_shares(
    start: Start, repository: Repository, tmp_path: Path
) -> None:
    main = Repository.create(tmp_path / "main")
    main.write("a.py", function("alpha"))
    main.commit()
    shutil.rmtree(repository.root)
    main.git("worktree", "add", "-q", str(repository.root))
    repository.write("b.py", function("bravo"))
    watching = await start()
    await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})
    main.write(".git/info/exclude", "b.py\n")
    await watching.until_texts({"a.py": "alpha"})


async def test_an_ignored_file_that_git_is_told_to_track(
    start: Start, repository: Repository
) -> None:
    repository.write(".gitignore", "secretly/\n")
    repository.write("secretly/a.py", function("alpha"))
    watching = await start()
    await watching.until_texts({".gitignore": "secretly"})
    repository.git("add", "-f", "secretly/a.py")
    await watching.until_texts({".gitignore": "secretly", "secretly/a.py": "alpha"})
    repository.write("secretly/a.py", function("bravo"))
    await watching.until_texts({".gitignore": "secretly", "secretly/a.py": "bravo"})


async def test_a_switch_of_branches(start: Start, repository: Repository) -> None:
    for number in range(120):
        repository.write(f"pkg{number % 7}/m{number}.py", function(f"first{number}"))
    repository.commit()
    watching = await start()
    before = {f"pkg{n % 7}/m{n}.py": f"first{n}(" for n in range(120)}
    await watching.until_texts(before)
    repository.git("checkout", "-q", "-b", "feature")
    shutil.rmtree(repository.root / "pkg3")
    for number in range(0, 120, 2):
        repository.write(f"pkg{number % 7}/m{number}.py", function(f"second{number}"))
    repository.write("added/n.py", function("added"))
    repository.commit()
    after = {f"pkg{n % 7}/m{n}.py": f"first{n}(" for n in range(120) if n % 7 != 3}
    after |= {f"pkg{n % 7}/m{n}.py": f"second{n}(" for n in range(0, 120, 2)}
    after["added/n.py"] = "added"
    await watching.until_texts(after)
    done = len(watching.updates)
    repository.git("checkout", "-q", "main")
    await watching.until_texts(before)
    repository.git("checkout", "-q", "feature")
    await watching.until_texts(after)
    assert len(watching.updates) - done < 30  # one for many files, not one for each


@pytest.mark.slow
async def test_thousands_of_changes_are_few_updates(start: Start, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    watching = await start()
    for number in range(2_500):
        repository.write(f"f{number % 40}/m{number}.txt", f"text{number}\n")
    expected = {f"f{n % 40}/m{n}.txt": f"text{n}" for n in range(2_500)}
    await watching.until_texts({"a.py": "alpha", **expected})
    assert len(watching.updates) < 40
    assert watching.status.pending == 0
