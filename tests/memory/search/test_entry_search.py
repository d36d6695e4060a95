"""Entries found by vectors: filters that Qdrant cannot answer, equal scores, stale points."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from ctx_core.engine.engine import Engine
from ctx_memory.records.entry import Change, Criteria, EntryKind
from ctx_memory.search import entry_search
from ctx_memory.search.points import EntryProjection
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.threads.threads import Threads
from tests.support.threads import add, draft, search_request

NOTES = 300


@pytest.fixture
async def many(threads: Threads) -> list[int]:
    """Notes on one subject; one in a hundred is red, every second even."""
    return await add(
        threads,
        [
            draft(
                f"cache invalidation note {n}" + (" about gardening" if n % 100 == 99 else ""),
                metadata={
                    "colour": "red" if n % 100 == 99 else "grey",
                    "even": n % 2 == 0,
                    "n": n,
                },
            )
            for n in range(NOTES)
        ],
    )


class QueryCounter:
    """Counts the queries to Qdrant."""

    def __init__(self, threads: Threads) -> None:
        self.count = 0
        searches: Any = threads.searches
        store = searches._semantic._entry_search._store
        self._query_batch = store.query_batch
        store.query_batch = self.query_batch

    async def query_batch(self, *given: Any) -> Any:
        self.count += 1
        return await self._query_batch(*given)


# --- metadata filters and vectors ----------------------------------------------------------


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few hundred entries are many."""
    monkeypatch.setattr(entry_search, "FIRST_FILTERED_PAGE", 8)
    monkeypatch.setattr(entry_search, "PAGE_GROWTH", 1)
    monkeypatch.setattr(entry_search, "POINTS_WORTH_LISTING", 20)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(("operator", "value", "queries"), [("eq", "red", 1), ("ne", "grey", 2)])
async def test_a_rare_metadata_filter_finds_all_of_its_entries(
    threads: Threads, many: list[int], operator: str, value: str, queries: int
) -> None:
    """They are the farthest of all: no page of nearest points has them. Qdrant answers equality;
    for other operators SQL lists the entries."""
    filtered = search_request(
        metadata_filters=[{"key": "colour", "operator": operator, "value": value}]
    )
    counter = QueryCounter(threads)
    for body in (
        await threads.searches.by_meaning("cache invalidation", filtered),
        await threads.hybrid.search("cache invalidation", None, None, filtered),
    ):
        assert {hit["id"] for hit in body["results"]} == {many[99], many[199], many[299]}
    assert counter.count == queries * 2 + 1, "one for the entries beside those found"


@pytest.mark.usefixtures("small_pages")
async def test_a_common_metadata_filter_pages_through_everything(
    threads: Threads, many: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More entries match than may be listed in a filter, so pages of points are read."""
    monkeypatch.setattr(entry_search, "MAX_LISTED", 10)
    even = [{"key": "even", "operator": "ne", "value": False}]
    seen: list[int] = []
    for offset in range(0, NOTES, 50):
        body = await threads.searches.by_meaning(
            "cache invalidation", search_request(50, offset, metadata_filters=even)
        )
        seen += [hit["id"] for hit in body["results"]]
    assert len(seen) == len(set(seen)) == NOTES // 2
    assert set(seen) == {id_ for n, id_ in enumerate(many) if n % 2 == 0}


@pytest.mark.usefixtures("small_pages")
async def test_listing_the_entries_and_paging_find_the_same(
    threads: Threads, many: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    filtered = search_request(
        40, 5, metadata_filters=[{"key": "n", "operator": "gte", "value": 250}]
    )
    listed = await threads.searches.by_meaning("note about gardening", filtered)
    monkeypatch.setattr(entry_search, "MAX_LISTED", 1)
    paged = await threads.searches.by_meaning("note about gardening", filtered)
    assert listed["results"] == paged["results"]
    assert listed["count"] == 40


async def test_a_filter_that_nothing_passes_finds_nothing(
    threads: Threads, many: list[int]
) -> None:
    body = await threads.searches.by_meaning("cache", search_request(metadata={"n": -1}))
    assert (body["results"], body["count"]) == ([], 0)


async def test_pages_of_equal_entries_do_not_overlap(threads: Threads) -> None:
    drafts = [replace(draft("the very same words"), thread=f"thread {n}") for n in range(30)]
    ids = await add(threads, drafts)
    seen: list[int] = []
    for offset in range(0, 30, 4):
        body = await threads.searches.by_meaning("same words", search_request(4, offset))
        seen += [hit["id"] for hit in body["results"]]
    assert seen == sorted(ids, reverse=True)


# --- stale points --------------------------------------------------------------------------


async def test_points_of_deleted_entries_are_not_shown(threads: Threads) -> None:
    """SQL checks every hit, so that points which Qdrant still has do not bring entries back."""
    ids = await add(threads, [draft("note" + " far away" * n) for n in range(5)])
    await threads.entries.records.remove(Criteria(EntryKind.THREAD, ids=ids[:3]))
    for limit in (5, 2):
        body = await threads.searches.by_meaning("note", search_request(limit))
        assert [hit["id"] for hit in body["results"]] == ids[3:]
        hybrid = await threads.hybrid.search("note", None, None, search_request(limit))
        assert {hit["id"] for hit in hybrid["results"]} == set(ids[3:])


async def test_changed_tags_count_before_their_points_are_written(threads: Threads) -> None:
    [id_] = await add(threads, [draft("note", tags=["before"])])
    await threads.entries.records.change([Change(id_, tags=["after"])], EntryKind.THREAD)
    assert (await threads.searches.by_meaning("note", search_request(tags=["before"])))[
        "count"
    ] == 0


async def test_an_id_that_means_another_entry_is_not_shown(
    threads: Threads, engine: Engine
) -> None:
    """As after a database was restored, and went on counting from an earlier number."""
    [id_] = await add(threads, [draft("harmless")])
    [stored] = await threads.entries.records.get([id_], EntryKind.THREAD)
    orphan = replace(stored, uuid=str(uuid4()), text="secret plans")
    projection = EntryProjection(EntryKind.THREAD, TextSplitter(400, 40))
    await engine.vectors.upsert("threads", projection.points([orphan], engine.embedder))
    body = await threads.searches.by_meaning("secret plans", search_request())
    [hit] = body["results"]
    assert hit["text_content"] == "harmless"
    assert (hit["scores"]["semantic_distance"] or 0.0) > 0.5
