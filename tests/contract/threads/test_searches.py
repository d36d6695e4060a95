"""What the four searches share: keys of results, truncation, images, pages, statistics."""

import pytest

from tests.support.contract import Thread
from tests.support.thread_samples import (
    ALL,
    HIT_KEYS,
    IMAGE,
    LONG,
    RANKED,
    RESULT_KEYS,
    SCORES,
    query_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest.mark.parametrize("name", ALL)
async def test_the_keys_of_the_answer_and_of_each_hit(filled: Thread, name: str) -> None:
    body = await filled.search(name, **query_of(name))
    assert set(body) == RESULT_KEYS[name]
    assert body["count"] == len(body["results"]) > 0
    for hit in body["results"]:
        assert set(hit) == HIT_KEYS | ({"scores"} if name in RANKED else set())
        if name in RANKED:
            assert set(hit["scores"]) == SCORES[name]
    if name in RANKED:
        assert body["query"] == "payment queue"


@pytest.mark.parametrize("name", ALL)
async def test_texts_are_cut_at_a_word(filled: Thread, name: str) -> None:
    body = await filled.search(name, **query_of(name))
    [hit] = [hit for hit in body["results"] if hit["metadata"].get("status") == "OPEN"]
    assert hit["is_text_content_truncated"] is True
    assert hit["text_content"].endswith("...")
    kept = hit["text_content"].removesuffix("...")
    assert 280 < len(kept) <= 300
    assert LONG.startswith(kept)
    assert LONG[len(kept)] == " "
    short = next(h for h in body["results"] if h["id"] != hit["id"])
    assert short["is_text_content_truncated"] is False


@pytest.mark.parametrize("name", ALL)
async def test_images_only_when_asked_for(filled: Thread, name: str) -> None:
    body = await filled.search(name, include_images=True, **query_of(name))
    images = {hit["content_type"]: hit["images"] for hit in body["results"]}
    assert images["multimodal"] == [IMAGE]
    assert images["text"] == []


async def test_defaults_and_clamps(thread: Thread) -> None:
    entries = [
        {"thread_id": thread.id, "source": "user", "text": f"shared words, number {n}"}
        for n in range(100)
    ]
    await thread.tools.call("store_context_batch", entries=entries)
    await thread.store("shared words, the last of them")
    for name in ALL:
        body = await thread.search(name, **query_of(name, "shared words"))
        assert body["count"] == (30 if name == "search_context" else 5)
        assert "clamped_limit" not in body
        body = await thread.search(name, limit=500, **query_of(name, "shared words"))
        assert body["count"] == 100
        assert body["clamped_limit"] == {"requested": 500, "applied": 100}
        assert body.get("total", 101) == 101


@pytest.mark.parametrize("name", ALL)
async def test_pages_follow_each_other(thread: Thread, name: str) -> None:
    texts = [f"shared words {'again ' * n}number {n}" for n in range(12)]
    entries = [{"thread_id": thread.id, "source": "user", "text": text} for text in texts]
    await thread.tools.call("store_context_batch", entries=entries)
    whole = await thread.texts(name, limit=12, **query_of(name, "shared words"))
    assert sorted(whole) == sorted(texts)
    pages = [
        await thread.texts(name, limit=5, offset=start, **query_of(name, "shared words"))
        for start in (0, 5, 10)
    ]
    assert [text for page in pages for text in page] == whole
    assert await thread.texts(name, offset=12, **query_of(name, "shared words")) == []


@pytest.mark.parametrize("name", ALL)
async def test_statistics_when_asked_for(filled: Thread, name: str) -> None:
    body = await filled.search(
        name, explain_query=True, metadata={"status": "open"}, **query_of(name)
    )
    assert set(body) == RESULT_KEYS[name] | {"stats"}
    stats = body["stats"]
    assert stats["execution_time_ms"] > 0
    assert stats["rows_returned"] == body["count"]
    assert stats["filters_applied"] == 2
    assert stats["backend"] in ("sqlite", "postgresql")
    assert stats["query_plan"]
    in_qdrant = [step for step in stats["query_plan"] if step.startswith("Qdrant: SEARCH ")]
    assert bool(in_qdrant) is (name in ("semantic_search_context", "hybrid_search_context"))
    assert all(" BY " in step and " LIMIT " in step for step in in_qdrant)
    if name == "hybrid_search_context":
        assert {step.split(" BY ")[1].split()[0] for step in in_qdrant} == {"dense", "bm25"}
    if name == "fts_search_context":  # the statement with the words, not that of the filters alone
        plain = await filled.search(explain_query=True, metadata={"status": "open"})
        assert stats["query_plan"] != plain["stats"]["query_plan"]
        assert len(stats["query_plan"]) > len(plain["stats"]["query_plan"])
    if name == "hybrid_search_context":
        assert stats["fusion_stats"]["rrf_k"] == 60
        assert stats["fts_stats"]["rows_returned"] == body["fts_count"]
        assert stats["semantic_stats"]["rows_returned"] == body["semantic_count"]
        assert stats["fts_stats"]["filters_applied"] == 2
        assert stats["adaptive_fts_mode"] == "boolean"
        times = [stats[each]["execution_time_ms"] for each in ("fts_stats", "semantic_stats")]
        assert min(times) > 0
        assert sum(times) <= stats["execution_time_ms"]
