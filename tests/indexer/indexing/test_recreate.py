"""A collection of code goes to another model, and is searched all the while."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import ModelMismatch
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_core.settings.models import CODE_MODEL
from ctx_indexer.indexing.report import IndexReport
from ctx_indexer.schema.points import spec
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest, SearchResult
from ctx_indexer.service import open_context, open_searcher
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.view.view import View
from tests.support import models
from tests.support.rebuild import Rebuild
from tests.support.repositories import Repository, function

FILES = 60


@dataclass
class Repos:
    """Two repos in one collection, and the settings of two models."""

    shipped: Settings
    second: Settings
    kept: Repository
    gone: Repository


@dataclass
class Running:
    """The parts of a process with one of the models."""

    engine: Engine
    context: IndexerContext
    searcher: Searcher
    collection: str

    async def index(self, repository: Repository, *, recreate: bool = False) -> IndexReport:
        return await self.context.indexer.index(
            repository.root, collection=self.collection, recreate=recreate
        )

    async def search(self, query: str) -> SearchResult:
        request = SearchRequest(parse_queries(query), SearchFilters(repos=("*",)))
        return await self.searcher.search(View(self.collection), request)

    async def rebuilding(self) -> bool:
        return await self.engine.vectors.rebuilding(self.collection)


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    async with open_engine(settings, settings.code_model) as engine:
        context = open_context(settings, engine, SessionDefaults())
        with contextlib.closing(context):
            searcher = await open_searcher(settings, engine)
            yield Running(engine, context, searcher, settings.collection_name)


@pytest.fixture
async def repos(settings: Settings, tmp_path: Path) -> AsyncIterator[Repos]:
    kept, gone = (Repository.create(tmp_path / name) for name in ("kept", "gone"))
    for number in range(FILES):
        kept.write(f"src/part_{number}.py", function(f"compute_{number}", "return value + 1"))
    gone.write("lost.py", function("remember_everything", "return 'kept'"))
    second = settings.model_copy(update={"embedding_model": models.second_model(tmp_path)})
    yield Repos(settings, second, kept, gone)
    async with open_engine(settings, settings.code_model) as engine:
        await engine.vectors.delete_collection(settings.collection_name)


def paths(result: SearchResult) -> set[str]:
    return {hit.chunk.path for hit in result.hits}


async def begun(process: Running, repository: Repository) -> Rebuild[IndexReport]:
    recreating = process.index(repository, recreate=True)
    return await Rebuild.begun(process.engine.vectors, process.collection, recreating)


async def test_searches_go_on_while_a_collection_goes_to_another_model(repos: Repos) -> None:
    async with running(repos.shipped) as before:
        await before.index(repos.kept)
        await before.index(repos.gone)
    shutil.rmtree(repos.gone.root)  # its workspace is gone: what is indexed of it stays
    async with running(repos.second) as after:
        with pytest.raises(ModelMismatch) as refused:
            await after.search("compute")
        with pytest.raises(ModelMismatch):
            await after.index(repos.kept)
        command = f"ctx index --recreate --collection {after.collection}"
        remedy = f"rebuild it with: {command}, or set EMBEDDING_MODEL back to {CODE_MODEL}"
        assert remedy in refused.value.message
        rebuild = await begun(after, repos.kept)
        answers = await rebuild.watched(lambda: after.search("compute_7 of the value"))
        report = await rebuild.end()
        assert all("src/part_7.py" in paths(answer) for answer in answers)
        assert not any(answer.degraded for answer in answers)
        assert all(answer.hits[0].ranked.candidate.dense > 0 for answer in answers)

        assert (report.collection, report.recreated) == (after.collection, True)
        assert (report.added, report.copied) == (FILES, {"gone": 1})
        assert "lost.py" in paths(await after.search("remember_everything"))
        infos = await after.engine.vectors.list_collections()
        [info] = [info for info in infos if info.name.startswith(after.collection)]
        assert info.spec.model is not None
        assert (info.spec.model.name, info.spec.dense) == (models.NAME, {"dense": 128})
        again = await after.index(repos.kept)
        assert (again.unchanged, again.written) == (FILES, 0)
        assert await after.engine.advice({after.collection: spec(after.engine.embedder)}) == []


async def test_without_the_old_model_words_are_compared_visibly(
    repos: Repos,
) -> None:
    async with running(repos.second) as before:
        await before.index(repos.kept)
    async with running(repos.shipped) as after:
        [advice] = await after.engine.advice({after.collection: spec(after.engine.embedder)})
        assert f"was built with model {models.NAME} (128 dims)" in advice
        rebuild = await begun(after, repos.kept)
        *meanwhile, last = await rebuild.watched(lambda: after.search("compute_7 of the value"))
        await rebuild.end()
        assert all("src/part_7.py" in paths(answer) for answer in [*meanwhile, last])
        assert "only words are compared until it is done" in meanwhile[0].degraded[0]
        assert models.NAME in meanwhile[0].degraded[0]
        assert not last.degraded


async def test_a_rebuild_that_is_cut_short_changes_nothing(repos: Repos) -> None:
    async with running(repos.shipped) as before:
        await before.index(repos.kept)
    async with running(repos.second) as after:
        rebuild = await begun(after, repos.kept)
        rebuild.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rebuild.task
        assert not await after.rebuilding()
        with pytest.raises(ModelMismatch):
            await after.search("compute")
    async with running(repos.shipped) as before:
        assert "src/part_7.py" in paths(await before.search("compute_7"))
        assert (await before.index(repos.kept)).unchanged == FILES
    async with running(repos.second) as after:
        assert (await after.index(repos.kept, recreate=True)).added == FILES
        assert "src/part_7.py" in paths(await after.search("compute_7"))


async def test_files_that_changed_meanwhile_are_found_by_the_next_run(repos: Repos) -> None:
    async with running(repos.shipped) as before:
        await before.index(repos.kept)
        repos.kept.write("src/part_7.py", function("compute_seven", "return 7"))
        repos.kept.remove("src/part_8.py")
        report = await before.index(repos.kept, recreate=True)
        assert (report.added, report.files) == (FILES - 1, FILES - 1)
        repos.kept.write("src/part_9.py", function("compute_nine", "return 9"))
        report = await before.index(repos.kept)
        assert (report.changed, report.removed, report.unchanged) == (1, 0, FILES - 2)
        assert "src/part_9.py" in paths(await before.search("compute_nine"))


async def test_embeddings_are_computed_once_a_model(repos: Repos) -> None:
    async with running(repos.second) as after:
        await after.index(repos.kept)
        computed: list[int] = []
        inner = after.engine.embedder._embedder
        embed = inner.embed_documents

        def counted(texts: Sequence[str]) -> NDArray[np.float32]:
            computed.append(len(texts))
            return embed(texts)

        inner.embed_documents = counted  # type: ignore[method-assign]
        await after.index(repos.gone)
        assert computed == [1]
        await after.index(repos.gone, recreate=True)  # copies the other repo
        await after.index(repos.kept, recreate=True)
        assert computed == [1]
