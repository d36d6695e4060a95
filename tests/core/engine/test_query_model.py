"""Which model a collection is queried with; finding it out writes nothing."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from ctx_core.embedding.factory import SHIPPED
from ctx_core.embedding.static import StaticEmbedder
from ctx_core.engine.query_model import QueryModel, QueryModelResolver
from ctx_core.errors import CollectionNotFound, InvalidInput, ModelMismatch
from ctx_core.settings.models import CODE_MODEL
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.server.store import ServerStore
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, IndexKind, hybrid_spec
from tests.support.vectors.reading import WRITES, reading

EMBEDDER = StaticEmbedder(SHIPPED / CODE_MODEL)
SPEC = hybrid_spec(
    EMBEDDER,
    {"lang": IndexKind.KEYWORD},
    purpose="samples",
    rebuild_command="rebuild {collection}",
    model_setting="SAMPLE_MODEL",
)
OTHER_MODEL = replace(SPEC, dense={"dense": 8}, model=EmbeddingModel("unknown-model", 8))
EARLIER = CollectionSpec(SPEC.dense, ("lex",), indexes=SPEC.indexes, model=SPEC.model)


@pytest.fixture(params=["edge", "server"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    opened: VectorStore
    if request.param == "edge":
        opened = await EdgeStore.open(tmp_path / "vectors")
    else:
        opened = ServerStore.connect(request.getfixturevalue("qdrant_url"), timeout=30.0)
    yield opened
    await opened.close()


@pytest.fixture
async def name(store: VectorStore) -> AsyncIterator[str]:
    chosen = f"samples-{uuid4().hex}"
    yield chosen
    await store.delete_collection(chosen)


def resolver(store: VectorStore) -> QueryModelResolver:
    return QueryModelResolver(reading(store), EMBEDDER)


def test_every_write_of_the_protocol_is_refused_here() -> None:
    """A method that is new must be sorted: it writes, or it reads."""
    reads = {
        "collection_info",
        "count",
        "facet",
        "list_collections",
        "query_batch",
        "rebuilding",
        "resolve",
        "retrieve",
        "scroll",
        "ping",
        "advice",
        "close",
        "engine",
    }
    assert {each for each in vars(VectorStore) if not each.startswith("_")} == reads | WRITES


async def test_a_sound_collection_is_queried_with_the_configured_model(
    store: VectorStore, name: str
) -> None:
    await store.ensure_collection(name, replace(SPEC, indexes={}))
    models = resolver(store)
    for _ in range(2):
        found = await models.of(name, SPEC)
        assert (found.embedder, found.degraded) == (EMBEDDER, ())
    assert (await store.collection_info(name)).spec.indexes == {}, "an index was added by a read"


async def test_an_unknown_collection_is_not_created(store: VectorStore, name: str) -> None:
    with pytest.raises(CollectionNotFound):
        await resolver(store).of(name, SPEC)
    assert name not in {info.name for info in await store.list_collections()}


@pytest.mark.parametrize(
    ("stored", "error", "message"),
    [
        (OTHER_MODEL, ModelMismatch, "built with model unknown-model"),
        (EARLIER, ModelMismatch, "earlier version"),
        (replace(SPEC, sparse=("lex",)), ModelMismatch, "nothing for the vector 'bm25'"),
        (replace(SPEC, purpose="recipes"), InvalidInput, "holds recipes, not samples"),
    ],
)
async def test_an_unfit_collection_is_refused_and_left_alone(
    store: VectorStore,
    name: str,
    stored: CollectionSpec,
    error: type[Exception],
    message: str,
) -> None:
    await store.ensure_collection(name, stored)
    with pytest.raises(error, match=message):
        await resolver(store).of(name, SPEC)
    assert (await store.collection_info(name)).spec == stored


async def test_while_it_is_rebuilt_a_missing_model_leaves_the_words(
    store: VectorStore, name: str
) -> None:
    await store.ensure_collection(name, OTHER_MODEL)
    await store.build(name, SPEC)
    found = await resolver(store).of(name, SPEC)
    assert found.embedder is None
    assert "unknown-model" in found.degraded[0]


async def test_while_it_is_rebuilt_an_earlier_version_cannot_be_searched(
    store: VectorStore, name: str
) -> None:
    await store.ensure_collection(name, EARLIER)
    await store.build(name, SPEC)
    with pytest.raises(ModelMismatch, match="is being rebuilt; search it when that is done"):
        await resolver(store).of(name, SPEC)


async def test_work_is_done_again_where_a_rebuild_ended_meanwhile(
    store: VectorStore, name: str
) -> None:
    await store.ensure_collection(name, SPEC)
    seen: list[str] = []

    async def work(model: QueryModel) -> int:
        seen.append(await store.resolve(name))
        if len(seen) == 1:
            await store.swap(name, await store.build(name, SPEC))
        return len(seen)

    assert await resolver(store).ask(name, SPEC, work) == 2
    assert seen == [name, await store.resolve(name)]
