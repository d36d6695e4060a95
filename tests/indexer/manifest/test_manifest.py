"""The manifest survives, keeps repos and checkouts separate, and does not block the event loop."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from ctx_core import sqlite
from ctx_core.errors import StorageFailed
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import CheckoutFile, FileVersion, ManifestRow, RepoKey, VersionRow
from ctx_indexer.manifest.tables import DONE, WRITING

KEY = RepoKey("embedded", "code", "repo")
ROOT, TREE = Path("/work/repo"), Path("/work/tree")
# The tables as INDEX_VERSION 7 made them.
EARLIER_FILES = """
CREATE TABLE files (
    store TEXT NOT NULL, collection TEXT NOT NULL, repo TEXT NOT NULL, path TEXT NOT NULL,
    blob TEXT NOT NULL, size INTEGER NOT NULL, modified REAL NOT NULL, chunks INTEGER NOT NULL,
    language TEXT NOT NULL, index_version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('writing', 'done')),
    PRIMARY KEY (store, collection, repo, path)
) WITHOUT ROWID
"""
EARLIER_CHECKOUTS = """
CREATE TABLE checkouts (
    store TEXT NOT NULL, collection TEXT NOT NULL, repo TEXT NOT NULL, root TEXT NOT NULL,
    PRIMARY KEY (store, collection, repo)
) WITHOUT ROWID
"""


def version(path: str, blob: str = "b", status: str = DONE) -> VersionRow:
    return VersionRow(path, blob, 3, "python", 1, status)


def file(path: str, blob: str = "b") -> CheckoutFile:
    return CheckoutFile(path, blob, 10, 1.5)


def row(path: str, blob: str = "b", status: str = DONE) -> ManifestRow:
    return ManifestRow(path, blob, 10, 1.5, 3, "python", 1, status)


@pytest.fixture
def manifest(tmp_path: Path) -> Iterator[Manifest]:
    opened = Manifest(tmp_path / "index.sqlite")
    yield opened
    opened.close()


async def put(manifest: Manifest, checkout: Checkout, *rows: ManifestRow) -> bool:
    """Record files as a run does."""
    written = [version(each.path, each.blob, each.status) for each in rows]
    await manifest.versions.begin(checkout.key, written)
    return await manifest.files.hold(checkout, [file(each.path, each.blob) for each in rows])


async def test_rows_come_back_as_they_were_put(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    await put(manifest, here, row("a.py"), row("ä \n'\".py", status=WRITING))
    assert await manifest.files.of(here) == {
        "a.py": row("a.py"),
        "ä \n'\".py": row("ä \n'\".py", status=WRITING),
    }


async def test_an_older_version_is_left_to_be_removed(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    assert not await put(manifest, here, row("a.py", "old", WRITING))
    assert await put(manifest, here, row("a.py", "new"))
    assert await manifest.files.of(here) == {"a.py": row("a.py", "new")}
    old = FileVersion("a.py", "old")
    assert await manifest.versions.removable(KEY) == await manifest.files.hidden(here) == [old]
    assert await manifest.versions.kept(KEY, ["a.py"]) == [("a.py", "new")]
    await manifest.versions.forget(KEY, [old, FileVersion("a.py", "new")])
    assert set(await manifest.versions.of_repo(KEY)) == {("a.py", "new")}


async def test_a_version_stays_while_a_checkout_has_it(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    there = await manifest.checkouts.record(KEY, TREE, linked=True)
    for checkout in (here, there):
        await put(manifest, checkout, row("a.py"), row("b.py"))
    assert not await put(manifest, there, row("a.py", "changed"))
    assert await manifest.files.hidden(here) == [("a.py", "changed")]
    assert await manifest.files.hidden(there) == [("a.py", "b")]
    assert not await manifest.files.release(here, ["b.py"])
    assert set(await manifest.files.hidden(here)) == {("a.py", "changed"), ("b.py", "b")}
    assert await manifest.files.release(there, ["b.py"])
    assert await manifest.versions.removable(KEY) == [("b.py", "b")]


async def test_what_is_being_written_is_hidden_until_a_checkout_has_it(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    await manifest.versions.begin(KEY, [version("a.py", status=WRITING)])
    assert await manifest.files.hidden(here) == [("a.py", "b")]
    await manifest.files.hold(here, [file("a.py")], [FileVersion("a.py", "b")])
    assert await manifest.files.hidden(here) == []
    assert await manifest.files.of(here) == {"a.py": row("a.py")}


async def test_what_was_begun_for_no_checkout_is_given_up(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    await put(manifest, here, row("held.py", status=WRITING))
    assert not await manifest.versions.abandon(KEY)
    await manifest.versions.begin(KEY, [version("a.py", status=WRITING)])
    assert await manifest.versions.abandon(KEY)
    assert await manifest.versions.removable(KEY) == [("a.py", "b")]


async def test_a_forgotten_checkout_leaves_what_others_have(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    there = await manifest.checkouts.record(KEY, TREE, linked=True)
    await put(manifest, here, row("a.py"))
    await put(manifest, there, row("a.py"), row("own.py"))
    await manifest.checkouts.forget(there)
    assert await manifest.versions.removable(KEY) == [("own.py", "b")]
    assert await manifest.checkouts.of_collection("embedded", "code") == [here]


async def test_the_main_checkout_comes_first(manifest: Manifest) -> None:
    there = await manifest.checkouts.record(KEY, TREE, linked=True)
    here = await manifest.checkouts.record(KEY, ROOT)
    assert await manifest.checkouts.of_collection("embedded", "code") == [here, there]
    assert await manifest.checkouts.record(KEY, TREE, linked=True) == there


async def test_every_change_changes_the_stamp(manifest: Manifest, tmp_path: Path) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    before = await manifest.stamp()
    assert await manifest.stamp() == before
    await put(manifest, here, row("a.py"))
    after = await manifest.stamp()
    assert after != before
    other = Manifest(tmp_path / "index.sqlite")
    await put(other, here, row("b.py"))
    other.close()
    assert await manifest.stamp() != after


async def test_repos_do_not_mix(manifest: Manifest) -> None:
    others = [RepoKey("server", "code", "repo"), RepoKey("embedded", "b", "repo")]
    others.append(RepoKey("embedded", "code", "other"))
    checkouts = {key: await manifest.checkouts.record(key, ROOT) for key in [KEY, *others]}
    for key, checkout in checkouts.items():
        await put(manifest, checkout, row(f"{key.store}{key.collection}{key.repo}"))
    await manifest.files.release(checkouts[KEY], list(await manifest.files.of(checkouts[KEY])))
    await manifest.versions.forget(KEY, await manifest.versions.removable(KEY))
    assert await manifest.files.of(checkouts[KEY]) == {}
    assert [len(await manifest.files.of(checkouts[key])) for key in others] == [1, 1, 1]
    assert [len(await manifest.versions.of_repo(key)) for key in others] == [1, 1, 1]
    assert await manifest.versions.repos("embedded", "code") == {"other"}


async def test_files_and_folders_are_selected(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    await put(manifest, here, *(row(path) for path in ("a/b.py", "a/c/d.py", "a0.py", "a.py")))
    assert set(await manifest.files.of(here, ["a", "a.py"])) == {"a/b.py", "a/c/d.py", "a.py"}
    assert set(await manifest.versions.of_repo(KEY, ["a/c"])) == {("a/c/d.py", "b")}
    assert await manifest.files.totals(here) == (4, 40)


async def test_many_rows_are_removed_at_once(manifest: Manifest) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    await put(manifest, here, *(row(f"{n}.py") for n in range(2000)))
    assert await manifest.files.release(here, [f"{n}.py" for n in range(1999)])
    assert list(await manifest.files.of(here)) == ["1999.py"]
    assert len(await manifest.versions.removable(KEY)) == 1999


async def test_a_name_belongs_to_its_first_claimant(manifest: Manifest) -> None:
    assert await manifest.checkouts.claim_name(KEY, "first") == "first"
    assert await manifest.checkouts.claim_name(KEY, "second") == "first"


async def test_it_is_on_disk_when_begin_returns(manifest: Manifest, tmp_path: Path) -> None:
    await manifest.versions.begin(KEY, [version("a.py", status=WRITING)])
    reader = sqlite3.connect(tmp_path / "index.sqlite")
    assert reader.execute("SELECT path, status FROM versions").fetchall() == [("a.py", "writing")]
    reader.close()


async def test_a_failing_transaction_leaves_nothing(manifest: Manifest) -> None:
    with pytest.raises(StorageFailed, match=r"index\.sqlite"):
        rows = [version("good.py"), version("bad.py", status="nonsense")]
        await manifest.versions.begin(KEY, rows)
    assert await manifest.versions.of_repo(KEY) == {}


async def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StorageFailed, match="may be deleted"):
        await Manifest(tmp_path / "index.sqlite").versions.of_repo(KEY)


async def test_a_locked_file_does_not_block_the_loop(manifest: Manifest, tmp_path: Path) -> None:
    here = await manifest.checkouts.record(KEY, ROOT)
    other = sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(put(manifest, here, row("a.py")))
    began = time.monotonic()
    await asyncio.sleep(0.2)
    assert not writing.done()
    assert time.monotonic() - began < sqlite.BUSY_TIMEOUT_SECONDS / 2
    other.execute("ROLLBACK")
    other.close()
    await writing
    assert list(await manifest.files.of(here)) == ["a.py"]


async def test_many_callers_at_once(manifest: Manifest) -> None:
    """A cursor that outlives its transaction would reset the statement of the next."""
    here = await manifest.checkouts.record(KEY, ROOT)
    rows = [row(f"{number}.py") for number in range(100)]
    await asyncio.gather(*(put(manifest, here, *rows) for _ in range(300)))
    assert len(await manifest.files.of(here)) == 100


@pytest.mark.parametrize("with_checkout", [True, False])
@pytest.mark.parametrize("version_column", ["index_version", "scheme"])
async def test_a_file_of_an_earlier_version_keeps_its_rows(
    tmp_path: Path, version_column: str, with_checkout: bool
) -> None:
    path = tmp_path / "index.sqlite"
    db = sqlite3.connect(path)
    db.execute(EARLIER_FILES.replace("index_version", version_column))
    values = (*KEY.columns, *asdict(row("a.py")).values())
    db.execute(f"INSERT INTO files VALUES ({', '.join('?' * len(values))})", values)
    if with_checkout:
        db.execute(EARLIER_CHECKOUTS)
        db.execute("INSERT INTO checkouts VALUES (?, ?, ?, ?)", (*KEY.columns, str(ROOT)))
    db.commit()
    db.close()
    for _ in range(2):
        opened = Manifest(path)
        here = await opened.checkouts.record(KEY, ROOT)
        assert await opened.files.of(here) == {"a.py": row("a.py")}
        assert await opened.checkouts.of_collection("embedded", "code") == [here]
        assert await opened.files.hidden(here) == []
        opened.close()
