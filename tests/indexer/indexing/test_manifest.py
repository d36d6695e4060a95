"""The index state survives, keeps repos apart, and does not stop the event loop."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.core import sqlite
from services.core.errors import StorageFailed
from services.indexer.indexing.manifest import WRITING, Manifest, ManifestRow, RepoKey

SHELF = RepoKey("embedded", "code", "repo")


def row(path: str, blob: str = "b", status: str = "done") -> ManifestRow:
    return ManifestRow(path, blob, 10, 1.5, 3, "python", 1, status)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Manifest]:
    opened = Manifest(tmp_path / "index.sqlite")
    yield opened
    opened.close()


async def test_rows_come_back_as_they_were_put(state: Manifest) -> None:
    await state.put(SHELF, [row("a.py"), row("ä \n'\".py", status=WRITING)])
    assert await state.rows(SHELF) == {
        "a.py": row("a.py"),
        "ä \n'\".py": row("ä \n'\".py", status=WRITING),
    }


async def test_a_row_is_replaced(state: Manifest) -> None:
    await state.put(SHELF, [row("a.py", "old", WRITING)])
    await state.put(SHELF, [row("a.py", "new")])
    assert await state.rows(SHELF) == {"a.py": row("a.py", "new")}


async def test_shelves_do_not_mix(state: Manifest) -> None:
    others = [RepoKey("server", "code", "repo"), RepoKey("embedded", "b", "repo")]
    others.append(RepoKey("embedded", "code", "other"))
    for shelf in [SHELF, *others]:
        await state.put(shelf, [row(f"{shelf.store}{shelf.collection}{shelf.repo}")])
    await state.forget_repo(SHELF)
    assert await state.rows(SHELF) == {}
    assert [len(await state.rows(shelf)) for shelf in others] == [1, 1, 1]
    assert await state.repos("embedded", "code") == {"other"}


async def test_many_rows_are_forgotten_at_once(state: Manifest) -> None:
    await state.put(SHELF, [row(f"{n}.py") for n in range(2000)])
    await state.forget(SHELF, [f"{n}.py" for n in range(1999)])
    assert list(await state.rows(SHELF)) == ["1999.py"]


async def test_a_name_belongs_to_who_came_first(state: Manifest) -> None:
    assert await state.owner(SHELF, "first") == "first"
    assert await state.owner(SHELF, "second") == "first"


async def test_it_is_on_disk_when_put_returns(state: Manifest, tmp_path: Path) -> None:
    await state.put(SHELF, [row("a.py")])
    reader = sqlite3.connect(tmp_path / "index.sqlite")
    assert reader.execute("SELECT path, status FROM files").fetchall() == [("a.py", "done")]
    reader.close()


async def test_a_failing_transaction_leaves_nothing(state: Manifest) -> None:
    with pytest.raises(StorageFailed, match=r"index\.sqlite"):
        await state.put(SHELF, [row("good.py"), row("bad.py", status="nonsense")])
    assert await state.rows(SHELF) == {}


async def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StorageFailed, match="may be deleted"):
        await Manifest(tmp_path / "index.sqlite").rows(SHELF)


async def test_a_locked_file_does_not_stop_the_loop(state: Manifest, tmp_path: Path) -> None:
    await state.put(SHELF, [])
    other = sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(state.put(SHELF, [row("a.py")]))
    began = time.monotonic()
    await asyncio.sleep(0.2)
    assert not writing.done()
    assert time.monotonic() - began < sqlite.BUSY_TIMEOUT_SECONDS / 2
    other.execute("ROLLBACK")
    other.close()
    await writing
    assert list(await state.rows(SHELF)) == ["a.py"]


async def test_many_callers_at_once(state: Manifest) -> None:
    """A cursor that outlives its transaction would reset the statement of the next."""
    rows = [row(f"{number}.py") for number in range(100)]
    await asyncio.gather(*(state.put(SHELF, rows) for _ in range(300)))
    assert len(await state.rows(SHELF)) == 100
