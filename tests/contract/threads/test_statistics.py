"""`list_threads` and `get_statistics`."""

import pytest

from tests.support.contract import Thread, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_threads_are_listed(filled: Thread) -> None:
    body = await filled.tools.call("list_threads")
    assert set(body) == {"threads", "total_threads"}
    assert body["total_threads"] == len(body["threads"])
    [mine] = [each for each in body["threads"] if each["thread_id"] == filled.id]
    newest, *_, oldest = (await filled.search())["results"]
    assert mine == {
        "thread_id": filled.id,
        "entry_count": 4,
        "source_types": 2,
        "sources": {"user": 2, "agent": 2},
        "multimodal_count": 1,
        "first_entry": oldest["created_at"],
        "last_entry": newest["created_at"],
        "last_id": newest["id"],
    }


async def test_statistics(filled: Thread) -> None:
    body = await filled.tools.call("get_statistics")
    assert set(body) == {
        "total_entries",
        "by_source",
        "by_content_type",
        "total_images",
        "unique_tags",
        "total_threads",
        "avg_entries_per_thread",
        "most_active_threads",
        "top_tags",
        "backend",
        "database_size_mb",
        "connection_metrics",
        "semantic_search",
        "fts",
        "hybrid_search",
        "chunking",
        "reranking",
        "summary",
    }
    assert body["total_entries"] >= 4
    assert sum(body["by_source"].values()) == body["total_entries"]
    assert sum(body["by_content_type"].values()) == body["total_entries"]
    assert body["total_images"] >= 1
    assert body["unique_tags"] >= 3
    assert body["avg_entries_per_thread"] == round(body["total_entries"] / body["total_threads"], 2)
    most = body["most_active_threads"]
    assert 0 < len(most) <= 5
    assert [each["count"] for each in most] == sorted((e["count"] for e in most), reverse=True)
    assert {"tag", "count"} == set(body["top_tags"][0])
    assert body["backend"] in ("sqlite", "postgresql")
    assert body["database_size_mb"] > 0
    assert body["connection_metrics"]
    semantic = body["semantic_search"]
    assert semantic["enabled"] is semantic["available"] is True
    assert (semantic["model"], semantic["dimensions"]) == ("static-minilm-256", 256)
    assert semantic["context_count"] == body["total_entries"]
    assert semantic["embedding_count"] > body["total_entries"]
    assert semantic["average_chunks_per_entry"] == round(
        semantic["embedding_count"] / semantic["context_count"], 2
    )
    assert semantic["coverage_percentage"] == 100
    assert body["fts"]["indexed_entries"] == body["total_entries"]
    assert body["fts"]["coverage_percentage"] == 100
    assert body["fts"]["engine"] in ("fts5", "tsvector")
    assert body["chunking"] == {
        "enabled": True,
        "available": True,
        "chunk_size": 1500,
        "chunk_overlap": 150,
        "aggregation": "max",
    }
    assert body["reranking"] == {
        "enabled": True,
        "available": False,
        "provider": None,
        "model": None,
    }
    summary = body["summary"]
    assert (summary["enabled"], summary["provider"], summary["model"]) == (True, "extractive", None)
    assert summary["min_content_length"] == 300


async def test_pages_of_threads(tools: Tools) -> None:
    threads = [Thread(tools) for _ in range(3)]
    for each in threads:
        await each.store("one entry")
    whole = await tools.call("list_threads")
    newest = [each.id for each in reversed(threads)]
    assert [each["thread_id"] for each in whole["threads"]][:3] == newest
    for offset in range(3):
        page = await tools.call("list_threads", limit=1, offset=offset)
        assert page["threads"] == [whole["threads"][offset]]
        assert page["total_threads"] == whole["total_threads"] == len(whole["threads"])
    page = await tools.call("list_threads", limit=1000)
    assert page["clamped_limit"] == {"requested": 1000, "applied": 100}
    rest = await tools.call("list_threads", offset=2)
    assert rest["threads"] == whole["threads"][2:]
