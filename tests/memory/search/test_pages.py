"""Pages cut from a ranking, with and without a reranker."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ctx_core.rerank.reranker import RerankStage
from ctx_core.settings import Settings
from ctx_memory.records.fulltext.query import TextMode
from ctx_memory.search import pages
from ctx_memory.search.pages import RankedPages
from ctx_memory.search.splitter import CHUNK_SIZE, TextSplitter
from ctx_memory.threads.hybrid import HybridSearch
from ctx_memory.threads.render import Results
from ctx_memory.threads.searches import Searches
from ctx_memory.threads.threads import Threads
from tests.support.fakes import Overlap
from tests.support.threads import add, draft, search_request


def reranking(threads: Threads, settings: Settings, reranker: Any, seconds: float = 5.0) -> Threads:
    """The same threads, searched with this reranker."""
    records = threads.entries.records
    splitter = TextSplitter()
    cut = RankedPages(records, splitter, RerankStage(reranker, seconds))
    results = Results(records, 300)
    return replace(
        threads,
        searches=Searches(
            records, threads.searches._texts, threads.searches._semantic, cut, results
        ),
        hybrid=HybridSearch(records, threads.hybrid.retrievers, cut, results, 60),
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
        await ranked.searches.by_meaning(query, search_request()),
        await ranked.searches.by_words("backoff queue", TextMode.MATCH, False, search_request()),
        await ranked.hybrid.search(query, None, None, search_request()),
    ):
        fits = [hit["scores"]["rerank_score"] for hit in body["results"]]
        assert fits == sorted(fits, key=lambda fit: -(fit or 0))
        assert fits[0] is not None
    assert body["results"][0]["text_content"].startswith("jitter")
    bodies = [
        await ranked.hybrid.search(query, None, None, search_request(4, offset))
        for offset in (0, 4, 8)
    ]
    ids = [hit["id"] for body in bodies for hit in body["results"]]
    assert len(ids) == len(set(ids)) == 11


async def test_the_reranker_reads_the_chunk_that_was_found(
    threads: Threads, settings: Settings
) -> None:
    filler = " ".join(f"Week {n} was quiet." for n in range(300))
    await add(threads, [draft(f"{filler} The mail relay certificate expires in May.")])
    reranker = Overlap()
    ranked = reranking(threads, settings, reranker)
    await ranked.searches.by_meaning("mail relay certificate expires", search_request())
    [read] = reranker.read
    assert "certificate" in read
    assert len(read) <= CHUNK_SIZE


async def test_a_reranker_that_is_late_leaves_the_first_order(
    threads: Threads, settings: Settings
) -> None:
    await add(threads, [draft(f"note {n}") for n in range(3)])
    first = await threads.searches.by_meaning("note", search_request())
    late = reranking(threads, settings, Overlap(seconds=0.5), seconds=0.05)
    body = await late.searches.by_meaning("note", search_request())
    assert [hit["id"] for hit in body["results"]] == [hit["id"] for hit in first["results"]]
    assert [hit["scores"]["rerank_score"] for hit in body["results"]] == [None] * 3
    assert body["warnings"] == ["rerank: took longer than 0.05 s"]


async def test_a_reranker_that_fails_leaves_a_warning(
    threads: Threads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(threads, [draft("note")])

    class Broken(Overlap):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ValueError("bad weights")

    body = await reranking(threads, settings, Broken()).searches.by_meaning(
        "note", search_request()
    )
    assert body["count"] == 1
    assert body["warnings"] == ["rerank: failed unexpectedly; the server's log has the details"]


async def test_beyond_the_pool_the_first_order_goes_on(
    threads: Threads, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "RERANK_POOL", 4)
    await add(threads, [draft(f"note {n}") for n in range(10)])
    ranked = reranking(threads, settings, Overlap())
    body = await ranked.searches.by_meaning("note", search_request(10))
    fits = [hit["scores"]["rerank_score"] for hit in body["results"]]
    assert [fit is not None for fit in fits] == [True] * 4 + [False] * 6
    assert len({hit["id"] for hit in body["results"]}) == 10
