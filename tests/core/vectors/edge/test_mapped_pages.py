"""Mapped pages of a collection: let go without losing what was written through them."""

import mmap
import sys
from pathlib import Path

import pytest

from ctx_core.vectors.edge import mapped_pages
from ctx_core.vectors.edge.mapped_pages import MAX_CHANGES, MappedPages, let_go
from ctx_core.vectors.edge.store import EdgeStore
from scripts.bench.usage import resident_mb
from tests.support.vectors.samples import SPEC, numbers, point

MEGABYTES = 32
SIZE = MEGABYTES * 1024**2

TEXT = "total += measure(value)\n" * 80  # a chunk of code of two kilobytes
# After 4,000 of them; 41 MB where pages are never let go.
MOST_MAPPED_KB = 10 * 1024

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="madvise on /proc/self/maps")


def written(file: Path, flags: int) -> mmap.mmap:
    """Map a new file and write all of it through the mapping."""
    file.parent.mkdir(exist_ok=True)
    with file.open("wb+") as opened:
        opened.truncate(SIZE)
        mapped = mmap.mmap(opened.fileno(), SIZE, flags=flags)
    mapped[:] = b"x" * SIZE
    return mapped


def freed_mb(folder: Path) -> float:
    before = resident_mb("self")["rss"]
    let_go(f"{folder}/")
    return before - resident_mb("self")["rss"]


def test_shared_pages_go_and_keep_what_was_written(tmp_path: Path) -> None:
    with written(tmp_path / "own" / "file", mmap.MAP_SHARED) as mapped:
        assert freed_mb(tmp_path / "own") > MEGABYTES / 2
        assert mapped[:] == b"x" * SIZE
        assert (tmp_path / "own" / "file").read_bytes() == b"x" * SIZE


def test_private_pages_and_those_of_other_folders_stay(tmp_path: Path) -> None:
    with (
        written(tmp_path / "own" / "file", mmap.MAP_PRIVATE) as private,
        written(tmp_path / "own-too" / "file", mmap.MAP_SHARED),
    ):
        assert freed_mb(tmp_path / "own") < MEGABYTES / 2
        assert private[:] == b"x" * SIZE


def test_pages_are_let_go_after_many_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(mapped_pages, "let_go", calls.append)
    pages = MappedPages(tmp_path)
    pages.note(MAX_CHANGES - 1)
    assert not calls
    pages.note(1)
    pages.note(1)
    assert calls == [f"{tmp_path}/"]


async def test_a_store_reads_and_reopens_what_it_let_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_pages, "MAX_CHANGES", 1)  # after each write
    store = await EdgeStore.open(folder)
    await store.ensure_collection("kept", SPEC)
    for number in range(1, 40):
        await store.upsert("kept", [point(number, {"n": number})])
    found, _ = await store.scroll("kept")
    assert numbers(found) == list(range(1, 40))
    await store.close()
    again = await EdgeStore.open(folder)
    assert numbers((await again.scroll("kept"))[0]) == list(range(1, 40))
    await again.close()


def mapped_kb(folder: Path) -> int:
    """Return what is resident of the mapped files below a folder."""
    total, is_below = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            is_below = str(folder) in line
        elif is_below and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total


@pytest.mark.slow
async def test_many_writes_keep_few_pages(folder: Path) -> None:
    store = await EdgeStore.open(folder)
    await store.ensure_collection("many", SPEC)
    for first in range(0, 2 * MAX_CHANGES, 200):
        await store.upsert("many", [point(first + n + 1, {"text": TEXT}) for n in range(200)])
    mapped = mapped_kb(folder)
    await store.close()
    assert mapped < MOST_MAPPED_KB
