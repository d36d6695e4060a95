"""`list_threads` and `get_statistics`."""

import pytest

from tests.support.contract import Thread

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
        "source_types": {"user": 2, "agent": 2},
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
        "database_size_mb",
        "database_backend",
        "connection_metrics",
        "semantic_search",
        "fts",
        "chunking",
        "reranking",
        "summary",
    }
    assert body["total_entries"] >= 4
    assert sum(body["by_source"].values()) == body["total_entries"]
    assert sum(body["by_content_type"].values()) == body["total_entries"]
    assert body["total_images"] >= 1
    assert body["unique_tags"] >= 3
    assert body["database_size_mb"] > 0
    assert body["connection_metrics"]
    semantic = body["semantic_search"]
    assert semantic["enabled"] is semantic["available"] is True
    assert (semantic["model"], semantic["dimensions"]) == ("static-minilm-256", 256)
    assert semantic["embedding_count"] > body["total_entries"]
    assert semantic["coverage_percentage"] == 100
    assert body["fts"]["indexed_entries"] == body["total_entries"]
    assert body["fts"]["coverage_percentage"] == 100
    assert body["fts"]["engine"] in ("fts5", "tsvector")
    assert body["chunking"] == {
        "enabled": True,
        "available": True,
        "chunk_size": 400,
        "chunk_overlap": 40,
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
