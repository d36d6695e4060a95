"""A code index under another copy of the vectors: an older one, or a damaged one."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import StorageFailed
from ctx_core.settings import Settings
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import PATH
from tests.support.repositories import Repository, function
from tests.support.vectors.damage import garble_payloads

NAME = "code"
FILES = 40


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", collection_name=NAME, workspace=tmp_path)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Indexer, Engine]]:
    async with open_engine(settings, settings.code_model) as engine:
        manifest = Manifest(settings.index_state_path)
        yield (
            Indexer(engine.vectors, engine.embedder, manifest, store_key="test", processes=1),
            engine,
        )
        manifest.close()


async def test_an_older_copy_of_equal_counts_is_noticed_and_corrected(
    settings: Settings, repository: Repository
) -> None:
    for n in range(4):
        repository.write(f"{n}.py", function(f"old{n}"))
    async with opened(settings) as (indexer, _):
        await indexer.index(repository.root, collection=NAME)
    older = settings.data_dir / "older"
    shutil.copytree(settings.vectors_dir, older)
    repository.write("1.py", function("changed"))
    repository.remove("2.py")
    repository.write("5.py", function("added"))
    async with opened(settings) as (indexer, _):
        await indexer.index(repository.root, collection=NAME)
        assert await indexer.check(NAME) == []
    shutil.rmtree(settings.vectors_dir)
    shutil.copytree(older, settings.vectors_dir)

    async with opened(settings) as (indexer, engine):
        [problem] = await indexer.check(NAME)
        assert "3 files" in problem  # one changed, one is missing, one is still there
        report = await indexer.index(repository.root, collection=NAME)
        assert (report.changed, report.removed, report.unchanged) == (2, 1, 2)
        paths = {each.value for each in await engine.vectors.facet(NAME, PATH)}
        assert paths == {"0.py", "1.py", "3.py", "5.py"}
        assert indexer.problems == []
        assert await indexer.check(NAME) == []


async def test_a_damaged_collection_is_noticed_and_recreated_without_reading_it(
    settings: Settings, repository: Repository, tmp_path: Path
) -> None:
    other = Repository.create(tmp_path / "other")
    for n in range(FILES):
        repository.write(f"{n}.py", function(f"name{n}", f"text = '{n}' * {n}"))
        other.write(f"{n}.py", function(f"other{n}", f"text = '{n}' * {n}"))
    async with opened(settings) as (indexer, _):
        for root in (repository.root, other.root):
            await indexer.index(root, collection=NAME)
    garble_payloads(settings.vectors_dir)

    async with opened(settings) as (indexer, engine):
        with pytest.raises(
            StorageFailed, match=f"damaged.*ctx index --recreate --collection {NAME}"
        ):
            await indexer.check(NAME)
        report = await indexer.index(repository.root, collection=NAME, recreate=True)
        assert (report.recreated, report.added) == (True, FILES)
        await engine.vectors.ping()
        await indexer.index(other.root, collection=NAME)
        assert await engine.vectors.count(NAME) == 2 * FILES
        assert await indexer.check(NAME) == []
