"""Searches that could go wrong: late filters, stale points, broken legs, a reranker."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from services.core.engine.engine import Engine, open_engine
from services.core.errors import CtxError, SearchFailed
from services.core.rerank.stage import RerankStage
from services.core.settings import Settings
from services.memory.records.types import Change, Criteria, Draft, EntryKind, TextMode
from services.memory.search import entry_search
from services.memory.search.points import EntryProjection
from services.memory.search.splitter import TextSplitter
from services.memory.service import open_memory
from services.memory.threads import results
from services.memory.threads.filters import Filters
from services.memory.threads.requests import EntryArgument
from services.memory.threads.results import Request, Results
from services.memory.threads.service import Threads
from tests.support.fakes import Overlap
from tests.support.threads import add, serving

CLOSED_PORT = "http://127.0.0.1:9"  # the discard port: nothing listens there
NOTES = 300


def draft(text: str, **more: Any) -> Draft:
    return Draft(EntryKind.THREAD, "threads", text, thread="t", source="user", **more)


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


def request(limit: int = 5, offset: int = 0, **filters: Any) -> Request:
    return Request(Filters(**filters), limit, offset)


class Asked:
    """Counts how often Qdrant is asked."""

    def __init__(self, threads: Threads) -> None:
        self.looks = 0
        meaning: Any = threads.searcher.meaning
        store = meaning._points._store
        self._query_batch = store.query_batch
        store.query_batch = self.query_batch

    async def query_batch(self, *given: Any) -> Any:
        self.looks += 1
        return await self._query_batch(*given)


# --- metadata filters and vectors ----------------------------------------------------------


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few hundred entries are many."""
    monkeypatch.setattr(entry_search, "FIRST_FILTERED_PAGE", 8)
    monkeypatch.setattr(entry_search, "GROWTH", 1)
    monkeypatch.setattr(entry_search, "POINTS_WORTH_NAMING", 20)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(("operator", "value", "looks"), [("eq", "red", 1), ("ne", "grey", 2)])
async def test_a_rare_metadata_filter_finds_all_of_its_entries(
    threads: Threads, many: list[int], operator: str, value: str, looks: int
) -> None:
    """They are the farthest of all: no page of nearest points holds them by itself. Qdrant knows
    what is equal; of others SQL names them."""
    wanted = request(metadata_filters=[{"key": "colour", "operator": operator, "value": value}])
    asked = Asked(threads)
    for body in (
        await threads.searcher.by_meaning("cache invalidation", wanted),
        await threads.hybrid.search("cache invalidation", None, None, wanted),
    ):
        assert {hit["id"] for hit in body["results"]} == {many[99], many[199], many[299]}
    assert asked.looks == looks * 2


@pytest.mark.usefixtures("small_pages")
async def test_a_common_metadata_filter_pages_through_everything(
    threads: Threads, many: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More are admitted than may be named to Qdrant, so pages of points are looked through."""
    monkeypatch.setattr(entry_search, "MOST_NAMED", 10)
    even = [{"key": "even", "operator": "ne", "value": False}]
    seen: list[int] = []
    for offset in range(0, NOTES, 50):
        body = await threads.searcher.by_meaning(
            "cache invalidation", request(50, offset, metadata_filters=even)
        )
        seen += [hit["id"] for hit in body["results"]]
    assert len(seen) == len(set(seen)) == NOTES // 2
    assert set(seen) == {id_ for n, id_ in enumerate(many) if n % 2 == 0}


@pytest.mark.usefixtures("small_pages")
async def test_naming_the_entries_and_paging_answer_the_same(
    threads: Threads, many: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = request(40, 5, metadata_filters=[{"key": "n", "operator": "gte", "value": 250}])
    named = await threads.searcher.by_meaning("note about gardening", wanted)
    monkeypatch.setattr(entry_search, "MOST_NAMED", 1)
    paged = await threads.searcher.by_meaning("note about gardening", wanted)
    assert named["results"] == paged["results"]
    assert named["count"] == 40


async def test_a_filter_that_admits_nothing_answers_nothing(
    threads: Threads, many: list[int]
) -> None:
    body = await threads.searcher.by_meaning("cache", request(metadata={"n": -1}))
    assert (body["results"], body["count"]) == ([], 0)


async def test_an_old_entry_is_found_by_date_and_deleted_by_age(threads: Threads) -> None:
    old = datetime.now(UTC) - timedelta(days=40)
    first, _ = await add(
        threads, [draft("ancient note", created_at=old), draft("recent note", created_at=None)]
    )
    end = (old + timedelta(days=1)).date().isoformat()
    body = await threads.searcher.by_meaning("note", request(end_date=end))
    assert [hit["id"] for hit in body["results"]] == [first]
    assert (await threads.entries.delete_batch(None, None, None, 41))["deleted_count"] == 0
    assert (await threads.entries.delete_batch(None, None, "agent", 30))["deleted_count"] == 0
    answer = await threads.entries.delete_batch(None, None, "user", 30)
    assert answer["deleted_count"] == 1
    assert answer["criteria_used"] == ["source", "older_than_days"]
    body = await threads.searcher.by_meaning("note", request())
    assert [hit["text_content"] for hit in body["results"]] == ["recent note"]


async def test_pages_of_equal_entries_do_not_overlap(threads: Threads) -> None:
    drafts = [replace(draft("the very same words"), thread=f"thread {n}") for n in range(30)]
    ids = await add(threads, drafts)
    seen: list[int] = []
    for offset in range(0, 30, 4):
        body = await threads.searcher.by_meaning("same words", request(4, offset))
        seen += [hit["id"] for hit in body["results"]]
    assert seen == sorted(ids, reverse=True)


# --- what breaks ---------------------------------------------------------------------------


async def test_points_of_deleted_entries_are_not_shown(threads: Threads) -> None:
    """SQL is asked last, so that what Qdrant has not heard of yet does not come back."""
    ids = await add(threads, [draft("note" + " far away" * n) for n in range(5)])
    await threads.entries.records.remove(Criteria(EntryKind.THREAD, ids=ids[:3]))
    for limit in (5, 2):
        body = await threads.searcher.by_meaning("note", request(limit))
        assert [hit["id"] for hit in body["results"]] == ids[3:]
        hybrid = await threads.hybrid.search("note", None, None, request(limit))
        assert {hit["id"] for hit in hybrid["results"]} == set(ids[3:])


async def test_changed_tags_count_before_qdrant_has_heard_of_them(threads: Threads) -> None:
    [id_] = await add(threads, [draft("note", tags=["before"])])
    await threads.entries.records.change([Change(id_, tags=["after"])], EntryKind.THREAD)
    assert (await threads.searcher.by_meaning("note", request(tags=["before"])))["count"] == 0


async def test_an_id_that_means_another_entry_is_not_shown(
    threads: Threads, engine: Engine
) -> None:
    """As after a database was restored, and went on counting from an earlier number."""
    [id_] = await add(threads, [draft("harmless")])
    [stored] = await threads.entries.records.get([id_], EntryKind.THREAD)
    stray = replace(stored, uuid=str(uuid4()), text="secret plans")
    writer = EntryProjection(TextSplitter(400, 40))
    await engine.vectors.upsert("threads", writer.points([stray], engine.embedder))
    body = await threads.searcher.by_meaning("secret plans", request())
    [hit] = body["results"]
    assert hit["text_content"] == "harmless"
    assert (hit["scores"]["semantic_distance"] or 0.0) > 0.5


async def test_without_qdrant_words_still_answer(settings: Settings) -> None:
    down = settings.model_copy(update={"qdrant_url": CLOSED_PORT})
    async with serving(down) as (memory, _):
        threads = memory.threads
        answer = await threads.entries.store(
            EntryArgument(thread_id="t", source="user", text="kept without Qdrant")
        )
        assert answer["success"]
        assert CLOSED_PORT in answer["warnings"][0]
        body = await threads.hybrid.search("kept", None, None, request())
        assert [hit["text_content"] for hit in body["results"]] == ["kept without Qdrant"]
        assert body["search_modes_used"] == ["fts"]
        assert body["semantic_count"] == 0
        [warning] = body["warnings"]
        assert warning.startswith("semantic: ")
        with pytest.raises(SearchFailed, match="semantic"):
            await threads.hybrid.search("kept", ["semantic"], None, request())
        with pytest.raises(CtxError):
            await threads.searcher.by_meaning("kept", request())
        status = (await threads.statistics.all())["semantic_search"]
        assert status["available"] is False
        assert CLOSED_PORT in status["error"]


async def test_without_words_meaning_still_answers_and_without_both_nothing(
    threads: Threads, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a language whose words only SQL knows."""
    await add(threads, [draft("found by meaning")])
    monkeypatch.setattr(threads.hybrid._legs, "_language", "french")

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the index is gone")

    monkeypatch.setattr(threads.entries.records, "rank_by_words", broken)
    body = await threads.hybrid.search("found", None, None, request())
    assert body["search_modes_used"] == ["semantic"]
    assert body["count"] == 1
    assert body["warnings"] == ["fts: failed unexpectedly; the server's log has the details"]
    await engine.vectors.delete_collection("threads")
    with pytest.raises(SearchFailed, match=r"fts: .*semantic: "):
        await threads.hybrid.search("found", None, None, request())


# --- reranking -----------------------------------------------------------------------------


def reranking(threads: Threads, settings: Settings, reranker: Any, seconds: float = 5.0) -> Threads:
    from services.memory.threads.hybrid import HybridSearcher
    from services.memory.threads.searches import Searcher

    records = threads.entries.records
    second = RerankStage(reranker, seconds)
    shown = Results(records, 300, TextSplitter(settings.chunk_size, settings.chunk_overlap), second)
    meaning = threads.searcher.meaning
    return replace(
        threads,
        searcher=Searcher(records, meaning, shown, "english"),
        hybrid=HybridSearcher(records, threads.hybrid._legs, shown, 60),
    )


async def test_the_reranker_has_the_last_word(threads: Threads, settings: Settings) -> None:
    await add(
        threads,
        [draft(f"backoff for the queue, variant {n}") for n in range(10)]
        + [draft("jitter and retries keep a busy queue calm, backoff or not")],
    )
    query = "retry jitter backoff"
    ranked = reranking(threads, settings, Overlap())
    for body in (
        await ranked.searcher.by_meaning(query, request()),
        await ranked.searcher.by_words("backoff queue", TextMode.MATCH, False, request()),
        await ranked.hybrid.search(query, None, None, request()),
    ):
        fits = [hit["scores"]["rerank_score"] for hit in body["results"]]
        assert fits == sorted(fits, key=lambda fit: -(fit or 0))
        assert fits[0] is not None
    assert body["results"][0]["text_content"].startswith("jitter")
    pages = [
        await ranked.hybrid.search(query, None, None, request(4, offset)) for offset in (0, 4, 8)
    ]
    ids = [hit["id"] for page in pages for hit in page["results"]]
    assert len(ids) == len(set(ids)) == 11


async def test_the_reranker_reads_the_chunk_that_was_found(
    threads: Threads, settings: Settings
) -> None:
    filler = " ".join(f"Week {n} was quiet." for n in range(80))
    await add(threads, [draft(f"{filler} The mail relay certificate expires in May.")])
    reranker = Overlap()
    ranked = reranking(threads, settings, reranker)
    await ranked.searcher.by_meaning("mail relay certificate expires", request())
    [read] = reranker.read
    assert "certificate" in read
    assert len(read) <= settings.chunk_size


async def test_a_reranker_that_is_late_leaves_the_first_order(
    threads: Threads, settings: Settings
) -> None:
    await add(threads, [draft(f"note {n}") for n in range(3)])
    first = await threads.searcher.by_meaning("note", request())
    late = reranking(threads, settings, Overlap(seconds=0.5), seconds=0.05)
    body = await late.searcher.by_meaning("note", request())
    assert [hit["id"] for hit in body["results"]] == [hit["id"] for hit in first["results"]]
    assert [hit["scores"]["rerank_score"] for hit in body["results"]] == [None] * 3
    assert body["warnings"] == ["rerank: took longer than 0.05 s"]


async def test_a_reranker_that_fails_is_told(
    threads: Threads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(threads, [draft("note")])

    class Broken(Overlap):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ValueError("bad weights")

    body = await reranking(threads, settings, Broken()).searcher.by_meaning("note", request())
    assert body["count"] == 1
    assert body["warnings"] == ["rerank: failed unexpectedly; the server's log has the details"]


async def test_beyond_the_pool_the_first_order_goes_on(
    threads: Threads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "POOL", 4)
    await add(threads, [draft(f"note {n}") for n in range(10)])
    ranked = reranking(threads, settings, Overlap())
    body = await ranked.searcher.by_meaning("note", request(10))
    fits = [hit["scores"]["rerank_score"] for hit in body["results"]]
    assert [fit is not None for fit in fits] == [True] * 4 + [False] * 6
    assert len({hit["id"] for hit in body["results"]}) == 10


async def test_the_reranker_of_the_settings_is_loaded_unless_disabled(settings: Settings) -> None:
    """A model that does not exist stops the start; with reranking disabled nobody asks for it."""
    wrong = settings.model_copy(update={"rerank_model": "no/such-model"})
    async with open_engine(wrong, wrong.memory_model) as engine:
        with pytest.raises(CtxError, match="rerank model no/such-model"):
            async with open_memory(wrong, engine):
                pass
        off = wrong.model_copy(update={"enable_reranking": False})
        async with open_memory(off, engine) as memory:
            status = (await memory.threads.statistics.all())["reranking"]
    assert (status["enabled"], status["available"]) == (False, False)
