"""Damaged or missing files of the embedded store: said with the remedy, and nothing is erased."""

from pathlib import Path

import pytest

from ctx_core.errors import StorageFailed
from ctx_core.vectors.edge import aliases, named_collections, shard, spec_file
from ctx_core.vectors.edge.store import EdgeStore
from ctx_core.vectors.queries import Query
from tests.support.vectors.damage import garble_payloads
from tests.support.vectors.samples import POINTS, SPEC, one_query, point

NAME = "notes"
MANY = [point(n, {"text": f"point {n} " * 50, "n": n}, dense=[1.0, 0, 0, n]) for n in range(300)]


async def filled(folder: Path) -> EdgeStore:
    store = await EdgeStore.open(folder)
    await store.ensure_collection(NAME, SPEC)
    await store.upsert(NAME, MANY)
    return store


async def test_garbled_payloads_are_errors_with_a_remedy_and_no_readiness(folder: Path) -> None:
    await (await filled(folder)).close()
    garble_payloads(folder)
    store = await EdgeStore.open(folder)
    query = Query("dense", [1.0, 0, 0, 0], 300)
    with pytest.raises(StorageFailed, match=f"{NAME}.*damaged: rebuild it with: rebuild {NAME}"):
        await one_query(store, NAME, query)
    with pytest.raises(StorageFailed, match=f"{NAME}.*rebuild it with"):
        await store.ping()
    assert (await store.collection_info(NAME)).status == "red"

    built = await store.build(NAME, SPEC)
    await store.upsert(built, MANY)
    await store.swap(NAME, built)
    await store.ping()
    assert len(await one_query(store, NAME, query)) == 300
    await store.close()


async def test_readiness_notices_garbled_payloads_by_itself(folder: Path) -> None:
    await (await filled(folder)).close()
    garble_payloads(folder)
    store = await EdgeStore.open(folder)
    with pytest.raises(StorageFailed, match="damaged"):
        for _ in range(20):  # each reads another place
            await store.ping()
    await store.close()


async def test_a_list_reads_what_it_calls_green(folder: Path) -> None:
    await (await filled(folder)).close()
    store = await EdgeStore.open(folder)
    assert [each.status for each in await store.list_collections()] == ["green"]
    await store.close()
    garble_payloads(folder)
    store = await EdgeStore.open(folder)
    listed = [each for _ in range(20) for each in await store.list_collections()]
    assert listed[-1].status == "red"  # each list reads another place
    assert "rebuild it with" in (listed[-1].optimizer_status or "")
    await store.close()


@pytest.mark.parametrize("left", [None, "{}", '{"notes": "notes@00000000"}'], ids=str)
async def test_a_collection_survives_the_loss_of_its_name(folder: Path, left: str | None) -> None:
    store = await filled(folder)
    built = await store.build(NAME, SPEC)
    await store.upsert(built, MANY[:7])
    await store.swap(NAME, built)
    await store.close()
    names = folder / aliases.ALIASES_FILE
    names.unlink()
    if left:
        names.write_text(left)
    for _ in range(2):
        store = await EdgeStore.open(folder)
        assert await store.count(NAME) == 7
        await store.close()


async def test_of_two_nameless_collections_none_is_erased(folder: Path) -> None:
    store = await filled(folder)
    whole = await store.build(NAME, SPEC)
    await store.upsert(whole, MANY)
    await store.swap(NAME, whole)
    unfinished = await store.build(NAME, SPEC)
    await store.upsert(unfinished, POINTS[:1])
    await store.close()
    (folder / aliases.ALIASES_FILE).unlink()
    for _ in range(2):
        store = await EdgeStore.open(folder)
        assert await store.count(NAME) == len(MANY)
        await store.close()
        assert (folder / aliases.UNNAMED_FOLDER / unfinished).is_dir()


async def test_a_collection_survives_the_loss_of_its_spec(folder: Path) -> None:
    await (await filled(folder)).close()
    (folder / named_collections.COLLECTIONS_FOLDER / NAME / spec_file.SPEC_FILE).unlink()
    for _ in range(2):
        store = await EdgeStore.open(folder)
        with pytest.raises(StorageFailed, match=f"{NAME}.*{spec_file.SPEC_FILE}"):
            await store.ping()
        await store.close()
    assert (folder / named_collections.COLLECTIONS_FOLDER / NAME / shard.SHARD_FOLDER).is_dir()
