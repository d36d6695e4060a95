"""What can go wrong while a folder is followed, and what must not be watched."""

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from ctx_core.settings import Settings
from ctx_indexer.watch import follower as following
from ctx_indexer.watch.follower import Follower
from ctx_indexer.watch.inotify import InotifySource
from ctx_indexer.watch.pending import MAX_PATHS, Pending
from ctx_indexer.watch.watch import Watch
from tests.indexer.conftest import Bench
from tests.indexer.watch.conftest import Start, Watching
from tests.support.repositories import Repository, function


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", collection_name="code", workspace=tmp_path)


async def test_ignored_folders_and_git_are_not_watched(
    start: Start, repository: Repository
) -> None:
    repository.write(".gitignore", "out/\n*.log\n")
    repository.write("src/deep/a.py", function("alpha"))
    repository.commit()
    for path in ("node_modules/p/i.js", "out/x.py", ".venv/lib/v.py", "src/__pycache__/a.pyc"):
        repository.write(path, "x = 1\n")
    watching = await start()
    assert watching.status.watched_folders == 3  # itself, src, src/deep
    repository.write("src/busy.log", "x\n")
    await asyncio.sleep(1.0)
    updates = len(watching.updates)
    for number in range(30):
        repository.write("src/busy.log", f"{number}\n")
        repository.write("node_modules/p/i.js", f"{number}\n")
        repository.write("out/x.py", f"{number}\n")
        assert watching.status.pending == 0  # what is known to be ignored is not looked at again
        await asyncio.sleep(0.01)
    assert len(watching.updates) == updates


async def test_hostile_entries(
    start: Start, repository: Repository, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    repository.write("a.py", function("alpha"))
    watching = await start()
    root = repository.root
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text(function("secret"))
    os.mkfifo(root / "pipe.py")
    (root / "loop").symlink_to(root)
    (root / "link.py").symlink_to(tmp_path / "outside/secret.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / os.fsdecode(b"bad\xff.py")).write_text("x = 1\n")
    (root / os.fsdecode(b"badfolder\xff")).mkdir()
    (root / os.fsdecode(b"badfolder\xff/a.py")).write_text("x = 1\n")
    (root / "new\nline.py").write_text(function("newline"))
    (root / "huge.py").write_bytes(b"#" * 2_000_000)
    (root / ("d/" * 60)).mkdir(parents=True)
    (root / ("d/" * 60) / "deep.py").write_text(function("deep"))
    (root / "b.py").write_text(function("bravo"))
    deep = "d/" * 60 + "deep.py"
    await watching.until_texts(
        {"a.py": "alpha", "b.py": "bravo", "new\nline.py": "newline", deep: "deep"}
    )
    (root / "pipe.py").unlink()
    (root / "pipe.py").write_text(function("piped"))
    (root / "folder").unlink()
    (root / "folder").mkdir()
    (root / "folder/f.py").write_text(function("foxtrot"))
    shutil.rmtree(root / "d")
    await watching.until_texts(
        {
            "a.py": "alpha",
            "b.py": "bravo",
            "new\nline.py": "newline",
            "pipe.py": "piped",
            "folder/f.py": "foxtrot",
        }
    )
    assert watching.status.state == "following"
    assert "failed" not in caplog.text


async def test_a_folder_that_goes_away_and_comes_back(
    start: Start, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MISSING_SECONDS", 0.1)
    repository.write("a.py", function("alpha"))
    watching = await start()
    elsewhere = repository.root.with_name("elsewhere")
    repository.root.rename(elsewhere)
    await watching.until_state("missing")
    assert (await watching.bench.texts()).keys() == {"a.py"}  # kept
    (elsewhere / "b.py").write_text(function("bravo"))
    elsewhere.rename(repository.root)
    await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})
    await watching.until_state("following")
    shutil.rmtree(repository.root)
    repository.root.mkdir()  # as a drive that is not mounted leaves it
    await watching.until_state("missing")
    assert (await watching.bench.texts()).keys() == {"a.py", "b.py"}


async def test_too_many_folders_are_polled_and_said(
    bench: Bench, repository: Repository, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(6):
        repository.write(f"f{number}/a.py", function(f"first{number}"))
    await bench.index(repository.root)
    events = InotifySource()
    checkout = await bench.checkout(repository.root)
    follower = Follower(bench.indexer, checkout, events, max_folders=3)
    task = asyncio.create_task(follower.run())
    watch = Watch(bench.indexer)
    watch._followers[bench.collection, repository.root] = follower
    watching = Watching(bench, repository, watch)
    try:
        await watching.until_state("polling")
        assert watching.status.watched_folders == 3
        assert "folders are not ignored; changes are looked for every" in watching.status.reason
        assert watch.gauges()["watch_polled_workspaces"]() == 1
        for number in range(6):
            repository.write(f"f{number}/a.py", function(f"second{number}"))
        await watching.until_texts({f"f{n}/a.py": f"second{n}" for n in range(6)})
        assert "is not followed by events" in caplog.text
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        events.close()


async def test_changes_are_coalesced_and_bounded() -> None:
    pending = Pending()
    for number in range(MAX_PATHS * 50):
        pending.add_file(f"f{number}.py")
    assert len(pending) <= MAX_PATHS + 1
    taken = pending.take()
    assert taken.everything
    assert (len(pending), pending.first) == (0, 0.0)
    for _ in range(1_000):
        pending.add_file("a.py")
        pending.add_folder("b")
    assert await pending.wait(1.0)
    taken = pending.take()
    assert (set(taken.paths), set(taken.folders), taken.everything) == ({"a.py"}, {"b"}, False)
    assert not await pending.wait(0.01)


@pytest.mark.slow
async def test_a_file_that_is_written_all_the_time_does_not_take_a_core(
    start: Start, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    watching = await start()
    until = time.monotonic() + 3.0
    number = 0
    while time.monotonic() < until:
        number += 1
        repository.write("busy.py", function(f"busy{number}"))
        await asyncio.sleep(0.005)
    assert len(watching.updates) <= 12
    await watching.until_texts({"a.py": "alpha", "busy.py": f"busy{number}("})


async def test_a_removed_worktree_is_forgotten_and_followed_no_more(
    start: Start, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MISSING_SECONDS", 0.1)
    monkeypatch.setattr(following, "FORGOTTEN_SECONDS", 1.0)
    repository.write("a.py", function("alpha"))
    repository.commit()
    watching = await start()
    tree = tmp_path / "tree"
    repository.git("worktree", "add", "-q", "-b", "other", str(tree))
    await watching.bench.index(tree)

    def states() -> dict[str, str]:
        return {Path(each.path).name: each.state for each in watching.watch.statuses()}

    async def is_followed() -> bool:
        return states().get("tree") == "following"

    async def is_missing() -> bool:
        return states().get("tree") == "missing"

    async def is_over() -> bool:
        return states() == {repository.root.name: "following"}

    await watching.until(is_followed)
    elsewhere = tmp_path / "elsewhere"
    tree.rename(elsewhere)
    await watching.until(is_missing)
    [missing] = [each for each in watching.watch.statuses() if each.state == "missing"]
    assert "its part of the index with it" in missing.reason
    elsewhere.rename(tree)  # as a worktree that is made again
    await watching.until(is_followed)
    repository.git("worktree", "remove", "--force", str(tree))
    await watching.until(is_over)


@pytest.mark.parametrize("part", ["folder", "repo", "collection"])
async def test_what_is_dropped_is_followed_no_more(
    start: Start, repository: Repository, tmp_path: Path, part: str
) -> None:
    repository.write("a.py", function("alpha"))
    repository.commit()
    watching = await start()
    bench = watching.bench
    tree = tmp_path / "tree"
    repository.git("worktree", "add", "-q", "-b", "other", str(tree))
    await bench.index(tree)
    repo = None if part == "collection" else watching.key.repo
    await bench.indexer.drop(bench.collection, repo, tree if part == "folder" else None)
    left = [repository.root] if part == "folder" else []
    assert [each.path for each in watching.watch.statuses()] == [str(root) for root in left]
    (tree / "b.py").write_text(function("bravo"))
    repository.write("b.py", function("bravo"))
    await asyncio.sleep(1.5)  # longer than a change needs
    checkouts = await bench.indexer.checkouts.of(bench.collection)
    assert [each.root for each in checkouts] == left
    if left:
        await watching.until_texts({"a.py": "alpha", "b.py": "bravo"})
