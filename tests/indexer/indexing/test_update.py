"""Updates of single files and folders, and what changed since the last run."""

import os
from dataclasses import replace

from ctx_indexer.indexing.changes import Signatures
from ctx_indexer.indexing.writer import RACY_SECONDS
from ctx_indexer.manifest.tables import WRITING
from tests.indexer.conftest import Bench
from tests.support.repositories import Repository, function


async def test_only_the_named_files_are_updated(bench: Bench, repository: Repository) -> None:
    for name in ("a", "b", "c"):
        repository.write(f"{name}.py", function(name))
    await bench.index(repository.root)
    for name in ("a", "b"):
        repository.write(f"{name}.py", function(name, "return 2"))
    repository.remove("c.py")
    repository.write("d.py", function("delta"))
    paths = ["a.py", "c.py", "d.py", "gone.py"]
    report = await bench.indexer.update(await bench.checkout(repository.root), paths)
    assert (report.added, report.changed, report.removed, report.files) == (1, 1, 1, 3)
    texts = await bench.texts()
    assert texts.keys() == {"a.py", "b.py", "d.py"}
    assert "return 2" in texts["a.py"]
    assert "return value" in texts["b.py"]
    again = await bench.indexer.update(await bench.checkout(repository.root), paths)
    assert (again.written, again.removed, again.unchanged) == (0, 0, 2)


async def test_a_folder_stands_for_all_that_lies_in_it(
    bench: Bench, repository: Repository
) -> None:
    for path in ("src/a.py", "src/deep/b.py", "src0.py", "src-1/c.py"):
        repository.write(path, function("alpha"))
    await bench.index(repository.root)
    (repository.root / "src").rename(repository.root / "lib")
    report = await bench.indexer.update(await bench.checkout(repository.root), ["src", "lib"])
    assert (report.added, report.removed, report.files) == (2, 2, 4)
    assert (await bench.texts()).keys() == {"lib/a.py", "lib/deep/b.py", "src0.py", "src-1/c.py"}


async def test_a_file_becomes_a_folder_and_a_folder_a_file(
    bench: Bench, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    repository.write("b.py/inner.py", function("beta"))
    await bench.index(repository.root)
    repository.remove("a.py")
    repository.write("a.py/inner.py", function("gamma"))
    repository.remove("b.py/inner.py")
    (repository.root / "b.py").rmdir()
    repository.write("b.py", function("delta"))
    await bench.indexer.update(await bench.checkout(repository.root), ["a.py", "b.py"])
    assert (await bench.texts()).keys() == {"a.py/inner.py", "b.py"}


async def test_what_changed_is_found_by_sizes_and_times(
    bench: Bench, repository: Repository
) -> None:
    repository.write(".gitignore", "*.log\n")
    for name in ("a", "b", "c"):
        repository.write(f"{name}.py", function(name))
    repository.write("binary", b"\0\1")
    repository.write("x.log", "x")
    for path in repository.root.glob("*.*"):
        os.utime(path, (1_000, 1_000))
    await bench.index(repository.root)
    here = await bench.checkout(repository.root)
    skipped: Signatures = {}
    assert await bench.indexer.changed(here, skipped) == set()
    assert skipped.keys() == {"binary"}

    repository.write("a.py", function("a", "return 2"))
    repository.remove("b.py")
    repository.write("d.py", function("delta"))
    repository.write(".gitignore", "")
    repository.write("binary", "now a text\n")
    changed = await bench.indexer.changed(here, skipped)
    assert changed == {"a.py", "b.py", "d.py", ".gitignore", "binary", "x.log"}
    await bench.indexer.update(here, changed)
    # What was changed just now is looked at again, as it may change within a tick of the clock.
    assert RACY_SECONDS > 0
    assert "b.py" not in await bench.indexer.changed(here, skipped)
    for path in repository.root.glob("*"):
        os.utime(path, (2_000, 2_000))
    await bench.indexer.update(here, await bench.indexer.changed(here, skipped))
    assert await bench.indexer.changed(here, skipped) == set()
    assert (await bench.texts()).keys() >= {"a.py", "c.py", "d.py", "binary", "x.log"}


async def test_an_interrupted_write_is_repeated_by_an_update(
    bench: Bench, repository: Repository
) -> None:
    repository.write("a.py", function("alpha"))
    await bench.index(repository.root)
    here = await bench.checkout(repository.root)
    [written] = (await bench.manifest.versions.of_repo(here.key)).values()
    await bench.manifest.versions.begin(here.key, [replace(written, status=WRITING)])
    assert "a.py" in await bench.indexer.changed(here, {})
    assert (await bench.indexer.update(here, ["a.py"])).changed == 1


async def test_a_state_says_whether_the_whole_workspace_was_indexed(
    bench: Bench, repository: Repository
) -> None:
    repository.write("src/a.py", function("alpha"))
    repository.write("b.py", function("beta"))

    def is_whole() -> bool:
        state = bench.indexer.states.read(repository.root)
        assert state is not None
        return state.whole

    await bench.index(repository.root, subdir="src")
    assert not is_whole()
    await bench.index(repository.root)
    assert is_whole()
    await bench.index(repository.root, subdir="src")
    assert is_whole()
