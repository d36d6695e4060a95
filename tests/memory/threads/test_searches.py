"""Thread searches by date, without Qdrant, and without full-text search."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import CtxError, SearchFailed
from ctx_core.settings import Settings
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.service import open_memory
from ctx_memory.threads.requests import EntryArgument
from ctx_memory.threads.threads import Threads
from tests.support.threads import add, draft, search_request, serving

CLOSED_PORT = "http://127.0.0.1:9"  # the discard port: nothing listens there


async def test_an_old_entry_is_found_by_date_and_deleted_by_age(threads: Threads) -> None:
    old = datetime.now(UTC) - timedelta(days=40)
    first, _ = await add(
        threads, [draft("ancient note", created_at=old), draft("recent note", created_at=None)]
    )
    end = (old + timedelta(days=1)).date().isoformat()
    body = await threads.searches.by_meaning("note", search_request(end_date=end))
    assert [hit["id"] for hit in body["results"]] == [first]
    assert (await threads.entries.delete_batch(None, None, None, 41))["deleted_count"] == 0
    assert (await threads.entries.delete_batch(None, None, "agent", 30))["deleted_count"] == 0
    answer = await threads.entries.delete_batch(None, None, "user", 30)
    assert answer["deleted_count"] == 1
    assert answer["criteria_used"] == ["source", "older_than_days"]
    body = await threads.searches.by_meaning("note", search_request())
    assert [hit["text_content"] for hit in body["results"]] == ["recent note"]


async def test_without_qdrant_words_still_answer(settings: Settings) -> None:
    down = settings.model_copy(update={"qdrant_url": CLOSED_PORT})
    async with serving(down) as (memory, _):
        threads = memory.threads
        answer = await threads.entries.store(
            EntryArgument(thread_id="t", source="user", text="kept without Qdrant")
        )
        assert answer["success"]
        assert "QDRANT_URL" in answer["warnings"][0]
        body = await threads.hybrid.search("kept", None, None, search_request())
        assert [hit["text_content"] for hit in body["results"]] == ["kept without Qdrant"]
        assert body["search_modes_used"] == ["fts"]
        assert body["semantic_count"] == 0
        [warning] = body["warnings"]
        assert warning.startswith("semantic: ")
        with pytest.raises(SearchFailed, match="semantic"):
            await threads.hybrid.search("kept", ["semantic"], None, search_request())
        with pytest.raises(CtxError):
            await threads.searches.by_meaning("kept", search_request())
        status: dict[str, Any] = {**(await threads.statistics.all())["semantic_search"]}
        assert status["available"] is False
        assert "QDRANT_URL" in status["error"]


async def test_without_words_meaning_still_answers_and_without_both_nothing(
    threads: Threads, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a language whose words only SQL can search."""
    await add(threads, [draft("found by meaning")])
    texts = threads.hybrid.retrievers._texts
    monkeypatch.setattr(texts, "_index", TextIndex(texts.dialect, "french"))

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the index is gone")

    monkeypatch.setattr(texts, "rank", broken)
    body = await threads.hybrid.search("found", None, None, search_request())
    assert body["search_modes_used"] == ["semantic"]
    assert body["count"] == 1
    assert body["warnings"] == ["fts: failed unexpectedly; the server's log has the details"]
    await engine.vectors.delete_collection("threads")
    with pytest.raises(SearchFailed, match=r"fts: .*semantic: "):
        await threads.hybrid.search("found", None, None, search_request())


async def test_the_reranker_of_the_settings_is_loaded_unless_disabled(settings: Settings) -> None:
    """A model that does not exist stops the start; with reranking disabled it is not loaded."""
    wrong = settings.model_copy(update={"rerank_model": "no/such-model"})
    async with open_engine(wrong, wrong.memory_model) as engine:
        with pytest.raises(CtxError, match="rerank model no/such-model"):
            async with open_memory(wrong, engine):
                pass
        off = wrong.model_copy(update={"enable_reranking": False})
        async with open_memory(off, engine) as memory:
            status = (await memory.threads.statistics.all())["reranking"]
    assert (status["enabled"], status["available"]) == (False, False)
