"""Clones of a bare repository, in memory: git waits for the disk at every commit."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from scripts.bench.fixtures.clones import Clone, Clones, open_clones
from tests.support.qdrant import memory


@pytest.fixture
def area() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ctx-clones-", dir=memory()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def clones(area: Path) -> AsyncIterator[Clones]:
    async with open_clones(area) as opened:
        yield opened


@pytest.fixture
def a(clones: Clones) -> Clone:
    return clones.clone("a")


@pytest.fixture
def b(clones: Clones) -> Clone:
    return clones.clone("b")
