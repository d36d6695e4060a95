"""VectorStore on both engines: collections are created, checked, listed, deleted."""

from dataclasses import replace

import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput, ModelMismatch
from ctx_core.vectors.points import Sparse
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import AtLeast, Filter, HasVector, Match, Query
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel, IndexKind
from tests.support.vectors.samples import MODEL, POINTS, SPEC, numbers, one_query, point, uid

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALL = Filter(must_not=[Match("n", -1)])


async def test_a_new_collection_is_listed_with_its_spec(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    info = await store.collection_info(fresh)
    assert info.name == fresh
    assert info.spec == SPEC
    assert (info.points_count, info.status) == (0, "green")
    # The embedded engine has no optimizer that could be asked.
    assert info.optimizer_status == (None if store.engine.startswith("embedded") else "ok")
    assert info.segments_count >= 1
    assert info in await store.list_collections()


async def test_vectors_are_counted_by_their_names(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, POINTS)
    [name] = SPEC.dense
    without = [each for each in POINTS if name not in each.vectors]
    found = await store.count(fresh, Filter(must=[HasVector(name)]))
    assert found == len(POINTS) - len(without)
    assert await store.count(fresh, Filter(must=[HasVector("nobody")])) == 0


async def test_ensuring_again_keeps_the_points(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, POINTS)
    await store.ensure_collection(fresh, SPEC)
    assert (await store.collection_info(fresh)).points_count == 4


async def test_a_missing_index_is_added_over_what_is_stored(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, replace(SPEC, indexes={"lang": IndexKind.KEYWORD}))
    await store.upsert(fresh, POINTS)
    with pytest.raises(InvalidInput):
        await store.facet(fresh, "n")
    await store.ensure_collection(fresh, SPEC)
    counts = await store.facet(fresh, "n")
    assert {each.value: each.count for each in counts} == {1: 1, 2: 1, 3: 1, 4: 1}
    found, _ = await store.scroll(fresh, where=Filter(must=[AtLeast("n", 3)]))
    assert numbers(found) == [3, 4]
    assert (await store.collection_info(fresh)).spec.indexes == SPEC.indexes


async def test_an_index_that_is_no_longer_expected_stays(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.ensure_collection(fresh, replace(SPEC, indexes={}))
    assert (await store.collection_info(fresh)).spec.indexes == SPEC.indexes


async def test_another_model_is_refused_with_the_command_that_rebuilds(
    store: VectorStore, fresh: str
) -> None:
    await store.ensure_collection(fresh, SPEC)
    other = replace(SPEC, dense={"dense": 8}, model=EmbeddingModel("large", 8))
    with pytest.raises(ModelMismatch) as refused:
        await store.ensure_collection(fresh, other)
    assert refused.value.message == (
        f"collection {fresh} was built with model tiny (4 dims), the configured one is large "
        f"(8 dims); rebuild it with: rebuild {fresh}, or set SAMPLE_MODEL back to tiny"
    )


async def test_the_command_that_rebuilds_is_the_one_of_the_caller(
    store: VectorStore, fresh: str
) -> None:
    await store.ensure_collection(fresh, SPEC)
    large = replace(
        SPEC,
        model=EmbeddingModel("large", 8),
        rebuild_command="make {collection} again",
        model_setting="OTHER_MODEL",
    )
    remedy = f"make {fresh} again, or set OTHER_MODEL back to tiny"
    with pytest.raises(ModelMismatch, match=remedy):
        await store.ensure_collection(fresh, large)


async def test_a_collection_of_another_purpose_is_refused(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    with pytest.raises(InvalidInput, match=f"'{fresh}' holds samples, not recipes"):
        await store.ensure_collection(fresh, replace(SPEC, purpose="recipes"))
    assert (await store.collection_info(fresh)).spec == SPEC


async def test_a_collection_without_purpose_must_be_rebuilt(store: VectorStore, fresh: str) -> None:
    """As an earlier version of ctx, or another program, left it: it can be read and listed."""
    older = replace(SPEC, purpose="", rebuild_command="", model_setting="")
    await store.ensure_collection(fresh, older)
    await store.upsert(fresh, POINTS)
    assert (await store.collection_info(fresh)).spec == older
    with pytest.raises(
        ModelMismatch, match=f"an earlier version .*rebuild it with: rebuild {fresh}"
    ):
        await store.ensure_collection(fresh, SPEC)
    assert (await store.collection_info(fresh)).spec == older
    assert await store.count(fresh) == 4
    built = await store.build(fresh, SPEC)
    await store.swap(fresh, built)
    assert (await store.collection_info(fresh)).spec == SPEC


async def test_a_rebuild_keeps_the_purpose(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    built = await store.build(fresh, SPEC)
    assert (await store.collection_info(built)).spec == SPEC
    await store.swap(fresh, built)
    assert (await store.collection_info(fresh)).spec == SPEC


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEC, model=EmbeddingModel("tiny-but-different", 4)),
        replace(SPEC, dense={"dense": 8}),
        replace(SPEC, dense={"dense": 4, "second": 4}),
        replace(SPEC, sparse=("bm25", "second")),
    ],
)
async def test_other_vectors_are_refused(
    store: VectorStore, fresh: str, other: CollectionSpec
) -> None:
    await store.ensure_collection(fresh, SPEC)
    with pytest.raises(ModelMismatch, match="rebuild it with"):
        await store.ensure_collection(fresh, other)


async def test_a_model_is_remembered_where_none_was(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, replace(SPEC, model=None))
    assert (await store.collection_info(fresh)).spec.model is None
    await store.ensure_collection(fresh, SPEC)
    assert (await store.collection_info(fresh)).spec.model == MODEL
    await store.ensure_collection(fresh, replace(SPEC, model=None))
    assert (await store.collection_info(fresh)).spec.model == MODEL


async def test_sparse_only_collection(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, CollectionSpec(sparse=("bm25",)))
    await store.upsert(fresh, [point(1, bm25=Sparse([5], [1.0]))])
    hits = await one_query(store, fresh, Query("bm25", Sparse([5], [2.0]), 1))
    assert [hit.id for hit in hits] == [uid(1)]


async def test_deleting_a_collection(store: VectorStore, fresh: str) -> None:
    await store.ensure_collection(fresh, SPEC)
    await store.upsert(fresh, POINTS)
    assert await store.delete_collection(fresh) is True
    assert await store.delete_collection(fresh) is False
    assert fresh not in [info.name for info in await store.list_collections()]
    await store.ensure_collection(
        fresh, replace(SPEC, dense={"dense": 2}, model=EmbeddingModel("x", 2))
    )
    assert await store.count(fresh) == 0


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "a\\b", ".hidden", "a b", "ü"])
async def test_names_that_cannot_be_a_folder_are_refused(store: VectorStore, name: str) -> None:
    with pytest.raises(InvalidInput, match="collection"):
        await store.ensure_collection(name, SPEC)
    with pytest.raises(InvalidInput, match="collection"):
        await store.delete_collection(name)


async def test_every_method_knows_an_unknown_collection(store: VectorStore) -> None:
    calls = [
        store.collection_info("nowhere"),
        store.upsert("nowhere", POINTS),
        store.upsert("nowhere", []),
        store.delete("nowhere", ALL),
        store.retrieve("nowhere", [uid(1)]),
        store.scroll("nowhere"),
        store.count("nowhere"),
        store.facet("nowhere", "lang"),
    ]
    for call in calls:
        with pytest.raises(CollectionNotFound, match="nowhere"):
            await call
