"""An indexer over real parts: Qdrant Edge or a real server, the shipped model, git repositories."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from services.core.embedding.cache import CachedEmbedder, EmbeddingCache
from services.core.embedding.factory import SHIPPED
from services.core.embedding.static import StaticEmbedder
from services.core.engine.engine import Engine, open_vectors
from services.core.settings import Settings
from services.core.settings.models import CODE_MODEL
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, Match, Record
from services.indexer.indexing.indexer import Indexer
from services.indexer.indexing.manifest import Manifest
from services.indexer.indexing.report import IndexReport
from services.indexer.schema.points import facts
from tests.support.repositories import Repository

REPO = "sample"


@lru_cache
def shipped() -> StaticEmbedder:
    """Loaded once: it cannot change."""
    return StaticEmbedder(SHIPPED / CODE_MODEL)


class Counting:
    """The shipped model, and how many texts it really embedded."""

    def __init__(self) -> None:
        self._model = shipped()
        self.texts = 0

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dims(self) -> int:
        return self._model.dims

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._model.embed_query(text)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32] | None:
        return self._model.embed_words(words)


@dataclass
class Bench:
    """An indexer, its parts, and what tests ask of them."""

    indexer: Indexer
    engine: Engine
    state: Manifest
    model: Counting
    collection: str

    @property
    def store(self) -> VectorStore:
        return self.engine.vectors

    async def index(self, workspace: Path, **wanted: object) -> IndexReport:
        named = {"collection": self.collection, "repo": REPO} | wanted
        return await self.indexer.index(workspace, **named)  # type: ignore[arg-type]

    async def records(self, repo: str = REPO) -> list[Record]:
        where = Filter(must=[Match("repo", repo)])
        found, more = await self.store.scroll(self.collection, where=where, limit=10_000)
        assert more is None
        return list(found)

    async def texts(self, repo: str = REPO) -> dict[str, str]:
        """Path → all of its chunks' text, which shows a duplicate or an old generation."""
        found: dict[str, str] = {}
        ordered = sorted(await self.records(repo), key=lambda r: facts(r.payload)["start_line"])
        for record in ordered:
            path = record.payload["path"]
            found[path] = found.get(path, "") + record.payload["text"]
        return found


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
        state = Manifest(settings.index_state_path)
        indexer = Indexer(
            vectors, embedder, state, store_key="test", reserved=settings.memory_collection_name
        )
        yield Bench(indexer, Engine(vectors, embedder), state, model, settings.collection_name)
        await vectors.delete_collection(settings.collection_name)
        state.close()
        embedder.close()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    yield Repository.create(tmp_path / "sample")
