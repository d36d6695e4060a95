"""Hybrid search by words: from Qdrant's BM25 vectors, or from SQL where they cannot answer."""

from typing import Any

import pytest

from ctx_core.engine.engine import Engine
from ctx_memory.records.entry import Draft, EntryKind
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.search.filters import EntryFilters
from ctx_memory.search.lexical import document_vector, lexical_query
from ctx_memory.threads.search_request import SearchRequest
from ctx_memory.threads.threads import Threads
from tests.support.threads import add

WORDS = ["fts"]


async def notes(threads: Threads, *texts: str, **more: Any) -> list[int]:
    drafts = [
        Draft(EntryKind.THREAD, "threads", text, thread="t", source="user", **more)
        for text in texts
    ]
    return await add(threads, drafts)


async def words(threads: Threads, query: str, **filters: Any) -> Any:
    request = SearchRequest(EntryFilters(**filters), 50, explain=True)
    return await threads.hybrid.search(query, WORDS, None, request)


def ids(body: Any) -> list[int]:
    return [hit["id"] for hit in body["results"]]


def backend(body: Any) -> str:
    found: str = body["stats"]["fts_stats"]["backend"]
    return found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploy", "We are deploying on Friday"),
        ("deployments", "They deployed it"),
        ("cafe", "The CAFÉ is closed"),
        ("Ünïcode", "unicode everywhere"),
        ("errors.py", "see services/ctx_core/errors.py for the list"),
        ("max_batch_size", "set MAX_BATCH_SIZE to 8"),
        ("развёртывание", "Развертывание завершено"),
        ("the broker", "a broker restarted"),
    ],
)
async def test_words_are_found_in_any_form(threads: Threads, query: str, text: str) -> None:
    found, _ = await notes(threads, text, "Colours of the landing page")
    body = await words(threads, query)
    assert ids(body) == [found]
    assert backend(body) == "qdrant"


async def test_rare_words_and_several_words_count_more(threads: Threads) -> None:
    filler = [f"the queue is slow today, said report {n}" for n in range(30)]
    *_, both, rare = await notes(threads, *filler, "queue of the broker", "broker of the dealer")
    body = await words(threads, "queue broker")
    assert ids(body)[:2] == [both, rare]
    scores = [hit["scores"]["fts_score"] for hit in body["results"]]
    assert scores == sorted(scores, reverse=True)
    assert body["fts_count"] == 32


async def test_a_long_entry_is_found_once_by_words_of_all_its_chunks(threads: Threads) -> None:
    long = " ".join(f"Paragraph {n} reports on the weather." for n in range(240))
    [id_] = await notes(threads, f"Certificates expire. {long} The relay is renewed.")
    body = await words(threads, "relay certificate weather")
    assert ids(body) == [id_]
    assert body["fts_count"] == 1


async def test_stop_words_alone_are_found_by_sql(threads: Threads) -> None:
    [found, _] = await notes(threads, "this and that", "nothing common")
    body = await words(threads, "and the of")
    assert ids(body) == [found]
    assert backend(body) == threads.entries.records.dialect


@pytest.mark.parametrize("language", ["english", "simple"])
async def test_sql_answers_what_the_vectors_cannot(
    threads: Threads, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    endless = "f" * 80
    [id_] = await notes(threads, f"the digest is {endless}")
    texts = threads.hybrid.retrievers._texts
    monkeypatch.setattr(texts, "_index", TextIndex(texts.dialect, language))
    body = await words(threads, endless if language == "english" else "digest")
    assert ids(body) == [id_]
    assert backend(body) == threads.entries.records.dialect
    assert "warnings" not in body


async def test_sql_answers_while_entries_wait_for_their_points(threads: Threads) -> None:
    await notes(threads, "an older note")
    outbox: Any = threads.entries._outbox
    outbox.waiting = 1
    body = await words(threads, "note")
    assert backend(body) == threads.entries.records.dialect
    outbox.waiting = 0
    assert backend(await words(threads, "note")) == "qdrant"


async def test_sql_answers_where_qdrant_fails_with_a_warning(
    threads: Threads, engine: Engine
) -> None:
    [id_] = await notes(threads, "kept in SQL")
    await engine.vectors.delete_collection("threads")
    body = await words(threads, "kept")
    assert ids(body) == [id_]
    assert body["search_modes_used"] == ["fts"]
    [warning] = body["warnings"]
    assert warning.startswith("fts: ")
    assert warning.endswith(f"; {threads.entries.records.dialect} was asked instead")
    both = await threads.hybrid.search("kept", None, None, SearchRequest(EntryFilters(), 5))
    assert ids(both) == [id_]
    assert both["search_modes_used"] == ["fts"]
    assert [each.split(":")[0] for each in both["warnings"]] == ["fts", "semantic"]


async def test_an_entry_with_very_much_metadata_is_found_by_any_of_it(threads: Threads) -> None:
    much = {f"key{n}": n for n in range(100)}
    [rich] = await notes(threads, "note with much", metadata=much)
    [poor] = await notes(threads, "note with little", metadata={"key7": 7})
    assert set(ids(await words(threads, "note", metadata={"key7": 7}))) == {rich, poor}
    assert ids(await words(threads, "note", metadata={"key8": 8})) == [rich]
    assert ids(await words(threads, "note", metadata={"key8": 7})) == []


def test_a_query_has_the_terms_of_its_words_without_stop_words() -> None:
    query = lexical_query("What is the Deployment?", "english")
    assert query is not None
    assert set(query.vector.indices) == set(document_vector("deploying").indices)
    assert lexical_query("Deployment", "german") is None
