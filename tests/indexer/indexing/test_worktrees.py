"""Two worktrees of one repository in one collection: stored once, seen apart."""

import shutil
from pathlib import Path

import pytest

from ctx_indexer.indexing import checkouts
from ctx_indexer.manifest.rows import RepoKey
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function

FILES = 12


@pytest.fixture
def worktree(repository: Repository, tmp_path: Path) -> Repository:
    """A second worktree beside a repository of some files."""
    for number in range(FILES):
        repository.write(f"m{number}.py", function(f"name{number}"))
    repository.commit()
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    return Repository(tmp_path / "tree")


async def test_what_is_the_same_is_stored_and_embedded_once(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    worktree.write("m0.py", function("changed"))
    worktree.write("new.py", function("added"))
    worktree.remove("m1.py")
    first = await bench.index(repository.root)
    computed = len(bench.model.computed)
    second = await bench.index(worktree.root)
    assert (first.added, first.shared) == (FILES, 0)
    assert (second.added, second.shared, second.written) == (FILES, FILES - 2, 2)
    assert await bench.store.count(bench.collection) == FILES + 2
    assert len(bench.model.computed) == computed + 2
    here = await bench.texts(seen_from=repository.root)
    there = await bench.texts(seen_from=worktree.root)
    assert here.keys() == {f"m{n}.py" for n in range(FILES)}
    assert there.keys() == here.keys() - {"m1.py"} | {"new.py"}
    assert "name0" in here["m0.py"]
    assert "changed" in there["m0.py"]
    assert (await bench.index(repository.root)).unchanged == FILES


async def test_changes_of_one_leave_the_other_alone(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    before = await bench.chunks(seen_from=repository.root)
    worktree.write("m0.py", function("changed"))
    worktree.remove("m1.py")
    report = await bench.index(worktree.root)
    assert (report.changed, report.removed) == (1, 1)
    assert await bench.chunks(seen_from=repository.root) == before
    repository.write("m0.py", function("changed"))  # now as in the other
    assert (await bench.index(repository.root)).shared == 1
    assert await bench.store.count(bench.collection) == FILES
    worktree.write("m0.py", function("again"))
    await bench.index(worktree.root)
    assert "changed" in (await bench.texts(seen_from=repository.root))["m0.py"]
    assert "again" in (await bench.texts(seen_from=worktree.root))["m0.py"]


async def test_an_update_of_single_files_leaves_the_other_alone(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    worktree.write("m0.py", function("changed"))
    worktree.remove("m1.py")
    await bench.indexer.update(await bench.checkout(worktree.root), ["m0.py", "m1.py"])
    assert (await bench.texts(seen_from=repository.root)).keys() == {
        f"m{n}.py" for n in range(FILES)
    }
    assert "name0" in (await bench.texts(seen_from=repository.root))["m0.py"]
    there = await bench.texts(seen_from=worktree.root)
    assert "changed" in there["m0.py"]
    assert "m1.py" not in there


async def test_a_removed_worktree_is_noticed_and_forgotten(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    worktree.write("m0.py", function("changed"))
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    repository.git("worktree", "remove", "--force", str(worktree.root))
    assert [each.root for each in await bench.indexer.checkouts.of(bench.collection)] == [
        repository.root
    ]
    assert await bench.indexer.check(bench.collection) == []
    assert await bench.store.count(bench.collection) == FILES
    assert len(await bench.manifest.checkouts.of_collection("test", bench.collection)) == 1
    key = RepoKey("test", bench.collection, "sample")
    assert len(await bench.manifest.versions.of_repo(key)) == FILES


async def test_the_only_checkout_of_a_repo_stays_when_its_folder_is_gone(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    await bench.index(worktree.root)
    shutil.rmtree(worktree.root)
    await bench.indexer.check(bench.collection)
    assert len(await bench.indexer.checkouts.of(bench.collection)) == 1
    assert await bench.store.count(bench.collection) == FILES


async def test_recreate_keeps_what_only_the_other_has(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    worktree.write("m0.py", function("changed"))
    worktree.write("new.py", function("added"))
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    before = await bench.texts(seen_from=worktree.root)
    computed = len(bench.model.computed)
    report = await bench.index(repository.root, recreate=True)
    assert (report.recreated, report.added, report.copied) == (True, FILES, {"sample": 2})
    assert len(bench.model.computed) == computed
    assert await bench.texts(seen_from=worktree.root) == before
    assert "name0" in (await bench.texts(seen_from=repository.root))["m0.py"]
    assert await bench.indexer.check(bench.collection) == []
    again = await bench.index(worktree.root)
    assert (again.unchanged, again.written) == (FILES + 1, 0)


async def test_what_the_store_lost_of_one_is_written_by_it_alone(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    worktree.write("m0.py", function("changed"))
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    await bench.store.delete_collection(bench.collection)
    assert (await bench.index(repository.root)).written == FILES
    report = await bench.index(worktree.root)
    assert (report.written, report.unchanged) == (1, FILES - 1)
    assert "changed" in (await bench.texts(seen_from=worktree.root))["m0.py"]
    assert await bench.indexer.check(bench.collection) == []


async def test_a_checkout_that_differs_much_is_a_repo_of_its_own(
    bench: Bench,
    repository: Repository,
    worktree: Repository,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkouts, "MAX_HIDDEN", 3)
    for number in range(3):
        worktree.write(f"m{number}.py", function(f"changed{number}"))
    await bench.index(repository.root)
    assert (await bench.index(worktree.root)).repo == "sample"
    worktree.write("m3.py", function("changed3"))
    computed = len(bench.model.computed)
    for written in (FILES, 0):
        report = await bench.index(worktree.root)
        assert (report.repo, report.written) == ("sample@tree", written)
    assert len(bench.model.computed) == computed + 1
    assert len(await bench.chunks()) == len(await bench.chunks("sample@tree")) == FILES
    assert [
        (each.repo, each.root) for each in await bench.indexer.checkouts.of(bench.collection)
    ] == [
        ("sample", repository.root),
        ("sample@tree", worktree.root),
    ]
    state = bench.indexer.states.read(worktree.root)
    assert state is not None
    assert state.repo == "sample@tree"


async def test_a_prune_of_one_leaves_the_other_alone(
    bench: Bench, repository: Repository, worktree: Repository
) -> None:
    for folder in (repository.root, worktree.root):
        await bench.index(folder)
    worktree.remove("m0.py")
    pruned = await bench.indexer.prune(worktree.root, collection=bench.collection, repo="sample")
    assert pruned.before == pruned.after
    assert "m0.py" in await bench.texts(seen_from=repository.root)
    assert "m0.py" not in await bench.texts(seen_from=worktree.root)
    repository.remove("m0.py")
    await bench.indexer.prune(repository.root, collection=bench.collection, repo="sample")
    assert await bench.store.count(bench.collection) == FILES - 1
