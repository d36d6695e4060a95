"""The manifest survives, keeps repos separate, and does not block the event loop."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.core import sqlite
from services.core.errors import StorageFailed
from services.indexer.indexing.manifest import FILES, WRITING, Manifest, ManifestRow, RepoKey

KEY = RepoKey("embedded", "code", "repo")


def row(path: str, blob: str = "b", status: str = "done") -> ManifestRow:
    return ManifestRow(path, blob, 10, 1.5, 3, "python", 1, status)


@pytest.fixture
def manifest(tmp_path: Path) -> Iterator[Manifest]:
    opened = Manifest(tmp_path / "index.sqlite")
    yield opened
    opened.close()


async def test_rows_come_back_as_they_were_put(manifest: Manifest) -> None:
    await manifest.put(KEY, [row("a.py"), row("ä \n'\".py", status=WRITING)])
    assert await manifest.rows(KEY) == {
        "a.py": row("a.py"),
        "ä \n'\".py": row("ä \n'\".py", status=WRITING),
    }


async def test_a_row_is_replaced(manifest: Manifest) -> None:
    await manifest.put(KEY, [row("a.py", "old", WRITING)])
    await manifest.put(KEY, [row("a.py", "new")])
    assert await manifest.rows(KEY) == {"a.py": row("a.py", "new")}


async def test_repos_do_not_mix(manifest: Manifest) -> None:
    others = [RepoKey("server", "code", "repo"), RepoKey("embedded", "b", "repo")]
    others.append(RepoKey("embedded", "code", "other"))
    for key in [KEY, *others]:
        await manifest.put(key, [row(f"{key.store}{key.collection}{key.repo}")])
    await manifest.remove(KEY, list(await manifest.rows(KEY)))
    assert await manifest.rows(KEY) == {}
    assert [len(await manifest.rows(key)) for key in others] == [1, 1, 1]
    assert await manifest.repos("embedded", "code") == {"other"}


async def test_many_rows_are_removed_at_once(manifest: Manifest) -> None:
    await manifest.put(KEY, [row(f"{n}.py") for n in range(2000)])
    await manifest.remove(KEY, [f"{n}.py" for n in range(1999)])
    assert list(await manifest.rows(KEY)) == ["1999.py"]


async def test_a_name_belongs_to_its_first_claimant(manifest: Manifest) -> None:
    assert await manifest.claim_name(KEY, "first") == "first"
    assert await manifest.claim_name(KEY, "second") == "first"


async def test_it_is_on_disk_when_put_returns(manifest: Manifest, tmp_path: Path) -> None:
    await manifest.put(KEY, [row("a.py")])
    reader = sqlite3.connect(tmp_path / "index.sqlite")
    assert reader.execute("SELECT path, status FROM files").fetchall() == [("a.py", "done")]
    reader.close()


async def test_a_failing_transaction_leaves_nothing(manifest: Manifest) -> None:
    with pytest.raises(StorageFailed, match=r"index\.sqlite"):
        await manifest.put(KEY, [row("good.py"), row("bad.py", status="nonsense")])
    assert await manifest.rows(KEY) == {}


async def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StorageFailed, match="may be deleted"):
        await Manifest(tmp_path / "index.sqlite").rows(KEY)


async def test_a_locked_file_does_not_block_the_loop(manifest: Manifest, tmp_path: Path) -> None:
    await manifest.put(KEY, [])
    other = sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(manifest.put(KEY, [row("a.py")]))
    began = time.monotonic()
    await asyncio.sleep(0.2)
    assert not writing.done()
    assert time.monotonic() - began < sqlite.BUSY_TIMEOUT_SECONDS / 2
    other.execute("ROLLBACK")
    other.close()
    await writing
    assert list(await manifest.rows(KEY)) == ["a.py"]


async def test_many_callers_at_once(manifest: Manifest) -> None:
    """A cursor that outlives its transaction would reset the statement of the next."""
    rows = [row(f"{number}.py") for number in range(100)]
    await asyncio.gather(*(manifest.put(KEY, rows) for _ in range(300)))
    assert len(await manifest.rows(KEY)) == 100


async def test_a_file_of_an_earlier_version_keeps_its_rows(tmp_path: Path) -> None:
    """It called the column of the index version by another name."""
    path = tmp_path / "index.sqlite"
    db = sqlite3.connect(path)
    db.execute(FILES.replace("index_version", "scheme"))
    values = (*KEY.columns, *vars(row("a.py")).values())
    db.execute(f"INSERT INTO files VALUES ({', '.join('?' * len(values))})", values)
    db.commit()
    db.close()
    for _ in range(2):
        opened = Manifest(path)
        assert await opened.rows(KEY) == {"a.py": row("a.py")}
        opened.close()
