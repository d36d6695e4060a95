"""An indexer over real parts: Qdrant Edge or a real server, the shipped model, git repositories."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from ctx_core.embedding.cache import CachedEmbedder, EmbeddingCache
from ctx_core.engine.engine import Engine, open_vectors
from ctx_core.settings import Settings
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.indexing.report import IndexReport
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.schema.fields import repo_filter, without_versions
from ctx_indexer.schema.payload import ChunkPayload, decode
from tests.support.fakes import Counting
from tests.support.repositories import Repository

REPO = "sample"
Chunks = dict[str, ChunkPayload]


@dataclass
class Bench:
    """An indexer with its parts."""

    indexer: Indexer
    engine: Engine
    manifest: Manifest
    model: Counting
    collection: str

    @property
    def store(self) -> VectorStore:
        return self.engine.vectors

    async def index(self, workspace: Path, **options: object) -> IndexReport:
        arguments = {"collection": self.collection, "repo": REPO} | options
        return await self.indexer.index(workspace, **arguments)  # type: ignore[arg-type]

    async def checkout(self, root: Path, repo: str = REPO) -> Checkout:
        """Return a checkout of a repo by its folder."""
        found = await self.manifest.checkouts.of_collection("test", self.collection)
        [only] = [each for each in found if (each.root, each.repo) == (root, repo)]
        return only

    async def chunks(self, repo: str = REPO, seen_from: Path | None = None) -> Chunks:
        """Return the stored chunks of a repo by id: all of them, or those that a checkout sees."""
        hidden: tuple[int, ...] = ()
        if seen_from is not None:
            hidden = await self.indexer.checkouts.hidden([await self.checkout(seen_from, repo)])
        where = without_versions(repo_filter(repo), hidden)
        page, more = await self.store.scroll(self.collection, where=where, limit=10_000)
        assert more is None
        return {record.id: decode(record.payload) for record in page}

    async def texts(self, repo: str = REPO, seen_from: Path | None = None) -> dict[str, str]:
        """Return the texts of each path's chunks as one, which shows duplicates and old ones."""
        texts: dict[str, str] = {}
        chunks = (await self.chunks(repo, seen_from)).values()
        for chunk in sorted(chunks, key=lambda c: c.start_line):
            texts[chunk.path] = texts.get(chunk.path, "") + chunk.text
        return texts


@pytest.fixture(params=["edge", "server"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("qdrant_url") if request.param == "server" else None
    return Settings(
        data_dir=tmp_path / "data",
        qdrant_url=url,
        collection_name=f"code-{uuid4().hex[:8]}",
        workspace=tmp_path,
    )


@pytest.fixture
async def bench(settings: Settings) -> AsyncIterator[Bench]:
    async with open_vectors(settings) as vectors:
        model = Counting()
        embedder = CachedEmbedder(model, EmbeddingCache(settings.embedding_cache_path))
        manifest = Manifest(settings.index_state_path)
        indexer = Indexer(
            vectors, embedder, manifest, store_key="test", reserved=settings.memory_collection_name
        )
        yield Bench(indexer, Engine(vectors, embedder), manifest, model, settings.collection_name)
        await vectors.delete_collection(settings.collection_name)
        manifest.close()
        embedder.close()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    yield Repository.create(tmp_path / "sample")
