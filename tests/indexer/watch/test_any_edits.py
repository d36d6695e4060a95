"""After any sequence of edits the followed index is what a clean index of the files would be."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.payload import decode
from ctx_indexer.watch.watch import Watch
from tests.support.qdrant import memory
from tests.support.repositories import Repository, function

SECONDS = 20.0
FOLLOWED, CLEAN = "followed", "clean"
FOLDERS = ("d", "d/e", "out", "node_modules")
PATHS = ("a.py", "b.py", "d/a.py", "d/e/c.py", "out/x.py", "x.log", "node_modules/m.py", "d")
RULES = ("", "*.log\n", "out/\n", "d/*\n!d/a.py\n", "/a.py\n*.log\nout\n")

Edit = tuple[str, int, int]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            "write replace append delete move remove_folder move_folder gitignore ctxignore "
            "add commit switch touch link pipe pause".split()
        ),
        st.integers(0, 7),
        st.integers(0, 7),
    ),
    min_size=1,
    max_size=14,
)
Contents = list[tuple[str, str, str]]


def write(root: Path, one: int, other: int) -> None:
    path = root / PATHS[one]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(function(f"name{other}"))


def replace(root: Path, one: int, other: int) -> None:
    path = root / PATHS[one]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name("partial.tmp")
    partial.write_text(function(f"name{other}"))
    partial.replace(path)


def append(root: Path, one: int, other: int) -> None:
    with (root / PATHS[one]).open("a") as file:
        file.write(function(f"more{other}"))


def delete(root: Path, one: int, other: int) -> None:
    (root / PATHS[one]).unlink()


def move(root: Path, one: int, other: int) -> None:
    (root / PATHS[one]).rename(root / PATHS[other])


def remove_folder(root: Path, one: int, other: int) -> None:
    shutil.rmtree(root / FOLDERS[one % len(FOLDERS)])


def move_folder(root: Path, one: int, other: int) -> None:
    (root / FOLDERS[one % len(FOLDERS)]).rename(root / FOLDERS[other % len(FOLDERS)])


def gitignore(root: Path, one: int, other: int) -> None:
    (root / ".gitignore").write_text(RULES[one % len(RULES)])


def ctxignore(root: Path, one: int, other: int) -> None:
    (root / ("d/.ctxignore" if other % 2 else ".ctxignore")).write_text(RULES[one % len(RULES)])


def add(root: Path, one: int, other: int) -> None:
    Repository(root).git("add", "-f", PATHS[one])


def commit(root: Path, one: int, other: int) -> None:
    Repository(root).commit()


def switch(root: Path, one: int, other: int) -> None:
    Repository(root).git("checkout", "-q", "-f", *([] if one % 2 else ["-B"]), f"branch{one % 3}")


def touch(root: Path, one: int, other: int) -> None:
    os.utime(root / PATHS[one], (other, other))


def link(root: Path, one: int, other: int) -> None:
    (root / PATHS[one]).symlink_to(root / PATHS[other])


def pipe(root: Path, one: int, other: int) -> None:
    os.mkfifo(root / PATHS[one])


DO: dict[str, Callable[[Path, int, int], None]] = {
    each.__name__: each
    for each in (
        write, replace, append, delete, move, remove_folder, move_folder, gitignore, ctxignore, add,
        commit, switch, touch, link, pipe,
    )
}  # fmt: skip


@dataclass
class Followed:
    """A repository that is followed, and the engine that holds its index."""

    repository: Repository
    engine: Engine
    indexer: Indexer
    data: Path

    async def contents(self, collection: str) -> Contents:
        page, more = await self.engine.vectors.scroll(collection, limit=10_000)
        assert more is None
        chunks = [decode(record.payload) for record in page]
        return sorted((chunk.path, chunk.blob, chunk.text) for chunk in chunks)

    async def clean(self) -> Contents:
        """Index the files as they are into an empty collection."""
        await self.engine.vectors.delete_collection(CLEAN)
        state = self.data / "clean.sqlite"
        state.unlink(missing_ok=True)
        manifest = Manifest(state)
        indexer = Indexer(
            self.engine.vectors, self.engine.embedder, manifest, store_key="clean", processes=1
        )
        await indexer.index(self.repository.root, collection=CLEAN, repo="clean")
        manifest.close()
        return await self.contents(CLEAN)


@contextlib.asynccontextmanager
async def followed(place: Path) -> AsyncIterator[Followed]:
    repository = Repository.create(place / "sample")
    repository.write("a.py", function("alpha"))
    repository.write("d/a.py", function("inner"))
    repository.commit()
    given = Settings(data_dir=place / "data")
    async with open_engine(given, given.code_model) as engine:
        manifest = Manifest(given.index_state_path)
        indexer = Indexer(engine.vectors, engine.embedder, manifest, store_key="test", processes=1)
        watch = Watch(indexer)
        work = asyncio.create_task(watch.run(known=False))
        await asyncio.sleep(0)
        await indexer.index(repository.root, collection=FOLLOWED, repo="sample")
        try:
            yield Followed(repository, engine, indexer, place)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            manifest.close()


async def apply(found: Followed, edits: Sequence[Edit]) -> None:
    for what, one, other in edits:
        if what == "pause":
            await asyncio.sleep(0.12)
            continue
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            DO[what](found.repository.root, one, other)


async def check(edits: Sequence[Edit]) -> None:
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        async with followed(Path(place)) as found:
            await apply(found, edits)
            expected = await found.clean()
            deadline = time.monotonic() + SECONDS
            while (indexed := await found.contents(FOLLOWED)) != expected:
                if time.monotonic() > deadline:
                    assert indexed == expected
                await asyncio.sleep(0.05)


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(EDITS)
def test_the_state_after_any_edits_is_that_of_a_clean_index(edits: list[Edit]) -> None:
    asyncio.run(check(edits))
