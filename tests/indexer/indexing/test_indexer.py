"""Indexing real repositories into real stores."""

import asyncio
import os
from pathlib import Path

import pytest

from ctx_core.embedding.cache import CachedEmbedder, EmbeddingCache
from ctx_core.errors import InvalidInput, ModelMismatch, StorageFailed
from ctx_core.memories.collection import spec as memory_spec
from ctx_core.settings import Settings
from ctx_core.vectors.queries import Filter, Match, MatchAny
from ctx_core.vectors.specs import CollectionSpec
from ctx_indexer.indexing import workers
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.report import Progress
from ctx_indexer.manifest.rows import RepoKey
from tests.indexer.conftest import REPO, Bench
from tests.support.fakes import Counting
from tests.support.repositories import Repository, function


async def test_add_change_remove_rename(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("src/b.py", function("beta"))
    repository.write("c.py", function("gamma"))
    first = await bench.index(repository.root)
    assert (first.added, first.changed, first.removed, first.unchanged) == (3, 0, 0, 0)
    assert first.chunks == 3 == await bench.store.count(bench.collection)

    repository.write("a.py", function("alpha", "return value * 2"))
    repository.remove("c.py")
    (repository.root / "src/b.py").rename(repository.root / "src/d.py")
    second = await bench.index(repository.root)
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 2, 0)
    texts = await bench.texts()
    assert texts.keys() == {"a.py", "src/d.py"}
    assert "value * 2" in texts["a.py"]
    assert texts["a.py"].count("def alpha") == 1

    third = await bench.index(repository.root)
    assert (third.added, third.changed, third.removed, third.unchanged) == (0, 0, 0, 2)
    assert third.chunks == 0


async def test_a_file_that_shrinks_leaves_no_old_chunks(
    bench: Bench, repository: Repository
) -> None:
    repository.write(
        "a.py", "\n\n".join(function(f"name{n}", "x = 1\n    " * 60) for n in range(9))
    )
    await bench.index(repository.root)
    assert await bench.store.count(bench.collection) > 3
    repository.write("a.py", function("only"))
    await bench.index(repository.root)
    assert list((await bench.texts()).values()) == [function("only").rstrip("\n")]


async def test_nothing_is_embedded_twice(
    bench: Bench, repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("b.py", function("beta"))
    repository.commit()
    await bench.index(repository.root)
    repository.git("checkout", "-q", "-b", "feature")
    repository.write("a.py", function("alpha", "return 1"))
    repository.commit()
    await bench.index(repository.root)
    computed = list(bench.model.computed)
    assert len(computed) == 3

    os.utime(repository.root / "b.py", (1, 1))  # touched, not changed
    assert (await bench.index(repository.root)).unchanged == 2
    repository.git("checkout", "-q", "main")  # a branch switched back
    assert (await bench.index(repository.root)).changed == 1
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"), "feature")
    tree = await bench.index(tmp_path / "tree")
    assert (tree.added, tree.shared, tree.written) == (2, 1, 1)
    await bench.index(repository.root, recreate=True)
    assert bench.model.computed == computed
    assert "return value" in (await bench.texts(seen_from=repository.root))["a.py"]
    assert "return 1" in (await bench.texts(seen_from=tmp_path / "tree"))["a.py"]


async def test_a_worktree_has_the_name_of_its_repository(
    bench: Bench, repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", function("alpha"))
    repository.commit()
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "elsewhere"))
    for folder in (repository.root, tmp_path / "elsewhere"):
        assert (await bench.index(folder, repo=None)).repo == "sample"


async def test_clones_have_the_name_of_their_remote(
    bench: Bench, repository: Repository, tmp_path: Path
) -> None:
    repository.write("a.py", function("alpha"))
    repository.commit()
    for name in ("here", "there"):
        repository.git("clone", "-q", str(repository.root), str(tmp_path / name))
        assert (await bench.index(tmp_path / name, repo=None)).repo == "sample"


async def test_two_repositories_of_one_name_do_not_meet(bench: Bench, tmp_path: Path) -> None:
    one = Repository.create(tmp_path / "one" / "app")
    two = Repository.create(tmp_path / "two" / "app")
    one.write("a.py", function("alpha"))
    two.write("b.py", function("beta"))
    first = await bench.index(one.root, repo=None)
    second = await bench.index(two.root, repo=None)
    assert first.repo == "app"
    assert second.repo.startswith("app-")
    assert (await bench.index(two.root, repo=None)).repo == second.repo
    assert (await bench.texts("app")).keys() == {"a.py"}
    assert (await bench.texts(second.repo)).keys() == {"b.py"}


async def test_a_subdir_leaves_the_rest_alone(bench: Bench, repository: Repository) -> None:
    for path in ("src/a.py", "src/b.py", "lib/c.py"):
        repository.write(path, function("alpha"))
    await bench.index(repository.root)
    for path in ("src/b.py", "lib/c.py"):
        repository.remove(path)
    report = await bench.index(repository.root, subdir="src")
    assert (report.removed, report.unchanged, report.files) == (1, 1, 2)
    assert (await bench.texts()).keys() == {"src/a.py", "lib/c.py"}


async def test_recreate_keeps_the_other_repos(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    await bench.index(repository.root, repo="other")
    await bench.index(repository.root)
    orphan = Filter(must=[Match("repo", REPO), MatchAny("path", ["a.py"])])
    await bench.store.delete(bench.collection, orphan)
    report = await bench.index(repository.root, recreate=True)
    assert (report.added, report.recreated) == (1, True)
    assert len(await bench.chunks("other")) == len(await bench.chunks()) == 1


async def test_what_the_store_lost_is_written_again(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("b.py", function("beta"))
    await bench.index(repository.root)
    lost = Filter(must=[Match("repo", REPO), Match("path", "b.py")])
    await bench.store.delete(bench.collection, lost)
    assert (await bench.index(repository.root)).changed == 1
    assert (await bench.texts()).keys() == {"a.py", "b.py"}
    await bench.store.delete_collection(bench.collection)
    assert (await bench.index(repository.root)).changed == 2
    assert (await bench.texts()).keys() == {"a.py", "b.py"}


async def test_lost_rows_leave_no_stray_points(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("b.py", function("beta"))
    await bench.index(repository.root)
    await bench.manifest.files.release(await bench.checkout(repository.root), ["a.py", "b.py"])
    key = RepoKey("test", bench.collection, REPO)
    await bench.manifest.versions.forget(key, await bench.manifest.versions.removable(key))
    repository.write("a.py", function("alpha", "return 2"))
    repository.remove("b.py")
    report = await bench.index(repository.root)
    assert (report.added, report.removed) == (1, 1)
    assert list((await bench.texts()).values()) == [function("alpha", "return 2").rstrip("\n")]


async def test_another_model_is_refused_until_recreated(
    bench: Bench, repository: Repository, settings: Settings
) -> None:
    repository.write("a.py", function("alpha"))
    await bench.index(repository.root)
    other = CachedEmbedder(Counting("another"), EmbeddingCache(settings.embedding_cache_path))
    indexer = Indexer(bench.store, other, bench.manifest, store_key="test")
    with pytest.raises(ModelMismatch, match="recreate"):
        await indexer.index(repository.root, collection=bench.collection, repo=REPO)
    report = await indexer.index(
        repository.root, collection=bench.collection, repo=REPO, recreate=True
    )
    assert report.added == 1
    other.close()


async def test_memories_are_never_touched(
    bench: Bench, repository: Repository, settings: Settings
) -> None:
    repository.write("a.py", function("alpha"))
    with pytest.raises(InvalidInput, match="memory server"):
        await bench.index(
            repository.root, collection=settings.memory_collection_name, recreate=True
        )
    notes = f"{bench.collection}-notes"
    await bench.store.ensure_collection(notes, memory_spec(bench.engine.embedder))
    try:
        with pytest.raises(InvalidInput, match="something else"):
            await bench.index(repository.root, collection=notes, recreate=True)
        assert (await bench.store.collection_info(notes)).name == notes
    finally:
        await bench.store.delete_collection(notes)


async def test_a_collection_of_another_program_is_never_recreated(
    bench: Bench, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    foreign = f"{bench.collection}-foreign"
    await bench.store.ensure_collection(foreign, CollectionSpec({"image": 4}))
    try:
        for recreate, error in ((False, ModelMismatch), (True, InvalidInput)):
            with pytest.raises(error):
                await bench.index(repository.root, collection=foreign, recreate=recreate)
        info = await bench.store.collection_info(foreign)
        assert info.spec == CollectionSpec({"image": 4})
    finally:
        await bench.store.delete_collection(foreign)


ODD = {
    "crlf.py": (b"def alpha():\r\n    return 1\r\n", "def alpha():"),
    "bom.py": (b"\xef\xbb\xbfdef beta():\n    return 1\n", "def beta():"),
    "latin.py": ("# caf\u00e9\ndef gamma():\n    return 1\n".encode("latin-1"), "caf\u00e9"),
    'sp ace\'s "q" \u00fc\u4e16.py': (b"def delta():\n    return 1\n", "def delta():"),
    "-dash.py": (b"def epsilon():\n    return 1\n", "def epsilon():"),
}


async def test_odd_files(bench: Bench, repository: Repository) -> None:
    for path, (content, _) in ODD.items():
        repository.write(path, content)
    repository.write("empty.py", b"")
    repository.write("blank.py", b"\n \n")
    repository.write("binary.dat", b"\0\1\2")
    report = await bench.index(repository.root)
    assert report.failures == []
    assert report.skipped["binary"] == 1
    texts = await bench.texts()
    assert texts.keys() == ODD.keys()
    for path, (_, expected) in ODD.items():
        assert expected in texts[path]
        assert not texts[path].startswith("\ufeff")
    again = await bench.index(repository.root)
    assert (again.unchanged, again.written, again.removed) == (7, 0, 0)


@pytest.mark.skipif(os.name == "nt", reason="names are text on Windows")
async def test_a_name_that_is_no_text_is_skipped(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    (repository.root / os.fsdecode(b"bad\xff.py")).write_text("x = 1\n")
    report = await bench.index(repository.root)
    assert report.added == 1
    assert report.skipped == {"not utf-8 name": 1}


@pytest.mark.skipif(os.name == "nt", reason="names are text on Windows")
async def test_such_a_name_is_skipped_in_a_subdir_too(bench: Bench, repository: Repository) -> None:
    repository.write("src/a.py", function("alpha"))
    (repository.root / os.fsdecode(b"src/bad\xff.py")).write_text("x = 1\n")
    report = await bench.index(repository.root, subdir="src")
    assert (report.added, report.skipped) == (1, {"not utf-8 name": 1})


async def test_an_unreadable_file_does_not_stop_the_run(
    bench: Bench, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    (repository.root / "gone.py").symlink_to(repository.root / "nowhere.py")
    os.mkfifo(repository.root / "pipe.py")
    report = await bench.index(repository.root)
    assert report.added == 1
    assert sum(report.skipped.values()) >= 1
    assert (await bench.texts()).keys() == {"a.py"}


async def test_many_files_are_prepared_in_processes(bench: Bench, repository: Repository) -> None:
    for number in range(workers.FEW_FILES * 3):
        repository.write(f"m{number}.py", function(f"name{number}"))
    heard: list[Progress] = []

    async def listen(progress: Progress) -> None:
        heard.append(progress)

    report = await bench.index(repository.root, progress=listen)
    assert report.added == workers.FEW_FILES * 3 == len(await bench.texts())
    assert [p.stage for p in heard if p.done == 0][:2] == ["scanning", "writing"]
    assert heard[-1] == Progress("done", report.added, report.added, report.chunks)
    assert [p.done for p in heard if p.stage == "writing"] == sorted(
        p.done for p in heard if p.stage == "writing"
    )


async def test_a_failed_write_is_not_recorded(bench: Bench, repository: Repository) -> None:
    repository.write("a.py", function("alpha"))
    await bench.index(repository.root)
    repository.write("b.py", function("beta"))

    class Failing:
        """The real store, except that writing points fails."""

        def __getattr__(self, name: str) -> object:
            return getattr(bench.store, name)

        async def upsert(self, *_: object) -> None:
            raise StorageFailed("disk full")

    broken = Indexer(Failing(), bench.engine.embedder, bench.manifest, store_key="test")  # type: ignore[arg-type]
    with pytest.raises(StorageFailed, match="disk full"):
        await broken.index(repository.root, collection=bench.collection, repo=REPO)
    versions = await bench.manifest.versions.of_repo(RepoKey("test", bench.collection, REPO))
    assert {row.path: row.done for row in versions.values()} == {"a.py": True, "b.py": False}
    assert (await bench.index(repository.root)).added == 1
    assert (await bench.texts()).keys() == {"a.py", "b.py"}


async def test_two_runs_of_a_collection_take_turns(bench: Bench, repository: Repository) -> None:
    for number in range(20):
        repository.write(f"m{number}.py", function(f"name{number}"))
    one, two = await asyncio.gather(bench.index(repository.root), bench.index(repository.root))
    assert sorted([one.added, two.added]) == [0, 20]
    assert len(await bench.chunks()) == 20


async def test_a_cancelled_run_is_finished_by_the_next(
    bench: Bench, repository: Repository
) -> None:
    for number in range(40):
        repository.write(f"m{number}.py", function(f"name{number}"))
    for delay in (0.0, 0.02, 0.05, 0.1):
        run = asyncio.create_task(bench.index(repository.root))
        await asyncio.sleep(delay)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    await bench.index(repository.root)
    assert len(await bench.chunks()) == 40 == len(await bench.texts())
