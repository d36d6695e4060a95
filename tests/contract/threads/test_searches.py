"""The four searches, as the contract has them: keys, defaults, clamps, scores, filters."""

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import pytest_asyncio

from tests.support.thread_clients import Thread, Tools

pytestmark = pytest.mark.asyncio(loop_scope="module")

IMAGE = {"data": base64.b64encode(b"picture").decode(), "mime_type": "image/jpeg"}
HIT_KEYS = {
    "id",
    "thread_id",
    "source",
    "content_type",
    "text_content",
    "summary",
    "is_text_content_truncated",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
}
RANKED = ("semantic_search_context", "fts_search_context", "hybrid_search_context")
ALL = ("search_context", *RANKED)
ANSWER_KEYS = {
    "search_context": {"results", "count"},
    "semantic_search_context": {"results", "count", "query", "model"},
    "fts_search_context": {"results", "count", "query", "mode", "language"},
    "hybrid_search_context": {
        "results",
        "count",
        "query",
        "fusion_method",
        "search_modes_used",
        "fts_count",
        "semantic_count",
    },
}
SCORES = {
    "semantic_search_context": {"semantic_distance", "semantic_rank"},
    "fts_search_context": {"fts_score", "fts_rank"},
    "hybrid_search_context": {
        "rrf",
        "fts_rank",
        "semantic_rank",
        "fts_score",
        "semantic_distance",
    },
}
LONG = "The retry budget of the payment queue was exhausted. " + "Nothing else happened. " * 30
ENTRIES: list[dict[str, Any]] = [
    {
        "text": "Retry the payment queue with exponential backoff and jitter",
        "metadata": {"status": "open", "priority": 9, "owner": {"name": "Ada"}},
        "tags": ["queue", "payments"],
    },
    {
        "text": "The payment queue drops messages when the broker restarts",
        "source": "agent",
        "metadata": {"status": "done", "priority": 3},
        "tags": ["queue"],
        "images": [IMAGE],
    },
    {"text": LONG, "metadata": {"status": "OPEN", "priority": 5}, "tags": ["incident"]},
    {"text": "Colours of the landing page follow the brand book", "source": "agent"},
]


def query(name: str, words: str = "payment queue") -> dict[str, Any]:
    return {} if name == "search_context" else {"query": words}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(tools: Tools) -> Thread:
    thread = Thread(tools)
    entries = [{"source": "user", "thread_id": thread.id, **entry} for entry in ENTRIES]
    await tools.call("store_context_batch", entries=entries)
    return thread


# --- shape ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
async def test_the_keys_of_the_answer_and_of_each_hit(filled: Thread, name: str) -> None:
    body = await filled.search(name, **query(name))
    assert set(body) == ANSWER_KEYS[name]
    assert body["count"] == len(body["results"]) > 0
    for hit in body["results"]:
        assert set(hit) == HIT_KEYS | ({"scores"} if name in RANKED else set())
        if name in RANKED:
            assert set(hit["scores"]) == SCORES[name]
    if name in RANKED:
        assert body["query"] == "payment queue"


@pytest.mark.parametrize("name", ALL)
async def test_texts_are_cut_at_a_word(filled: Thread, name: str) -> None:
    body = await filled.search(name, **query(name))
    [hit] = [hit for hit in body["results"] if hit["metadata"].get("status") == "OPEN"]
    assert hit["is_text_content_truncated"] is True
    assert 280 < len(hit["text_content"]) <= 300
    assert LONG.startswith(hit["text_content"])
    assert LONG[len(hit["text_content"])] == " "
    short = next(h for h in body["results"] if h["id"] != hit["id"])
    assert short["is_text_content_truncated"] is False


@pytest.mark.parametrize("name", ALL)
async def test_images_only_when_asked_for(filled: Thread, name: str) -> None:
    body = await filled.search(name, include_images=True, **query(name))
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
        body = await thread.search(name, **query(name, "shared words"))
        assert body["count"] == (30 if name == "search_context" else 5)
        assert "warnings" not in body
        body = await thread.search(name, limit=500, **query(name, "shared words"))
        assert body["count"] == 100
        [warning] = body["warnings"]
        assert "500" in warning
        assert "100" in warning


@pytest.mark.parametrize("name", ALL)
async def test_pages_follow_each_other(thread: Thread, name: str) -> None:
    texts = [f"shared words {'again ' * n}number {n}" for n in range(12)]
    entries = [{"thread_id": thread.id, "source": "user", "text": text} for text in texts]
    await thread.tools.call("store_context_batch", entries=entries)
    whole = await thread.texts(name, limit=12, **query(name, "shared words"))
    assert sorted(whole) == sorted(texts)
    pages = [
        await thread.texts(name, limit=5, offset=start, **query(name, "shared words"))
        for start in (0, 5, 10)
    ]
    assert [text for page in pages for text in page] == whole
    assert await thread.texts(name, offset=12, **query(name, "shared words")) == []


@pytest.mark.parametrize("name", ALL)
async def test_statistics_when_asked_for(filled: Thread, name: str) -> None:
    body = await filled.search(name, explain_query=True, metadata={"status": "open"}, **query(name))
    assert set(body) == ANSWER_KEYS[name] | {"stats"}
    stats = body["stats"]
    assert stats["execution_time_ms"] > 0
    assert stats["rows_returned"] == body["count"]
    assert stats["filters_applied"] == 2
    assert stats["backend"] in ("sqlite", "postgresql")
    assert stats["query_plan"]
    if name == "hybrid_search_context":
        assert stats["fusion_stats"]["rrf_k"] == 60
        assert stats["fts_stats"]["results_count"] == body["fts_count"]
        assert stats["semantic_stats"]["results_count"] == body["semantic_count"]


# --- filters -------------------------------------------------------------------------------

FILTERS: list[tuple[dict[str, Any], set[int]]] = [
    ({}, {0, 1, 2, 3}),
    ({"source": "agent"}, {1, 3}),
    ({"tags": ["QUEUE "]}, {0, 1}),
    ({"tags": ["payments", "incident"]}, {0, 2}),
    ({"tags": ["absent"]}, set()),
    ({"content_type": "multimodal"}, {1}),
    ({"content_type": "text"}, {0, 2, 3}),
    ({"metadata": {"status": "open"}}, {0, 2}),
    ({"metadata": {"status": "open", "priority": 5}}, {2}),
    ({"metadata": {"owner.name": "ada"}}, {0}),
    ({"metadata_filters": [{"key": "priority", "operator": "gte", "value": 5}]}, {0, 2}),
    ({"metadata_filters": [{"key": "priority", "operator": "not_exists"}]}, {3}),
    (
        {
            "metadata_filters": [
                {"key": "status", "operator": "eq", "value": "open", "case_sensitive": True}
            ]
        },
        {0},
    ),
    ({"source": "user", "tags": ["queue"], "metadata": {"priority": 9}}, {0}),
    ({"source": "user", "metadata": {"priority": 3}}, set()),
]


@pytest.mark.parametrize("name", ["search_context", "semantic_search_context"])
@pytest.mark.parametrize(("filters", "expected"), FILTERS)
async def test_filters(
    filled: Thread, name: str, filters: dict[str, Any], expected: set[int]
) -> None:
    body = await filled.search(name, **filters, **query(name))
    found = {_number(hit) for hit in body["results"]}
    assert found == expected


@pytest.mark.parametrize("name", ["fts_search_context", "hybrid_search_context"])
@pytest.mark.parametrize(("filters", "expected"), FILTERS)
async def test_filters_of_word_searches(
    filled: Thread, name: str, filters: dict[str, Any], expected: set[int]
) -> None:
    modes = {"search_modes": ["fts"]} if name == "hybrid_search_context" else {}
    body = await filled.search(name, **modes, **filters, **query(name))
    assert {_number(hit) for hit in body["results"]} == expected - {3}


def _number(hit: dict[str, Any]) -> int:
    return next(
        n for n, entry in enumerate(ENTRIES) if entry["text"].startswith(hit["text_content"])
    )


@pytest.mark.parametrize("name", ALL)
async def test_an_invalid_metadata_filter_answers_no_rows(filled: Thread, name: str) -> None:
    body = await filled.search(
        name,
        metadata_filters=[
            {"key": "priority", "operator": "almost", "value": 1},
            {"operator": "eq", "value": 1},
        ],
        **query(name),
    )
    assert set(body) == ANSWER_KEYS[name] | {"validation_errors"}
    assert (body["results"], body["count"]) == ([], 0)
    assert len(body["validation_errors"]) >= 2
    assert any("almost" in error for error in body["validation_errors"])


@pytest.mark.parametrize("name", ALL)
async def test_dates(filled: Thread, name: str) -> None:
    now = datetime.now(UTC)
    today, yesterday = now.date().isoformat(), (now - timedelta(days=1)).date().isoformat()
    east = (now + timedelta(hours=1)).astimezone(timezone(timedelta(hours=5))).isoformat()
    before = (now - timedelta(hours=1)).astimezone(timezone(timedelta(hours=-7))).isoformat()
    for period, some in (
        ({"start_date": today, "end_date": today}, True),
        ({"start_date": yesterday}, True),
        ({"end_date": yesterday}, False),
        ({"end_date": east}, True),
        ({"start_date": east}, False),
        ({"start_date": before}, True),
        ({"end_date": before}, False),
        ({"start_date": now.replace(tzinfo=None).isoformat()}, False),
    ):
        body = await filled.search(name, **period, **query(name))
        assert bool(body["count"]) is some, period


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"start_date": "2025-12-01", "end_date": "2025-11-30"}, "start_date", "swap"),
        (
            {"start_date": "2025-11-29T12:00:00+02:00", "end_date": "2025-11-29T09:00:00Z"},
            "start_date",
            "swap",
        ),
        ({"start_date": "yesterday"}, "start_date", "ISO 8601"),
        ({"end_date": "2025-13-40"}, "end_date", "ISO 8601"),
        ({"limit": 0}, "limit", "greater than or equal to 1"),
        ({"offset": -1}, "offset", "greater than or equal to 0"),
        ({"source": "robot"}, "source", "'user' or 'agent'"),
        ({"content_type": "video"}, "content_type", "'text' or 'multimodal'"),
        ({"tags": [" "]}, "tags", "blank"),
    ],
)
async def test_a_wrong_argument_is_refused(
    filled: Thread, name: str, arguments: dict[str, Any], field: str, said: str
) -> None:
    given = {"thread_id": filled.id, **query(name), **arguments}
    body = await filled.tools.refused(name, **given)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field
    assert said in body["error"]


@pytest.mark.parametrize("name", RANKED)
async def test_a_blank_query_is_refused(tools: Tools, name: str) -> None:
    body = await tools.refused(name, query="  ")
    assert body["details"]["field"] == "query"
    body = await tools.refused(name, query="x", offset=10_001)
    assert body["details"]["field"] == "offset"


# --- each search ---------------------------------------------------------------------------


async def test_browsing_shows_the_newest_first(filled: Thread) -> None:
    body = await filled.search()
    assert [_number(hit) for hit in body["results"]] == [3, 2, 1, 0]


async def test_meaning_is_found_without_the_words(filled: Thread) -> None:
    body = await filled.search(
        "semantic_search_context", query="which hues does our website use", limit=1
    )
    [hit] = body["results"]
    assert _number(hit) == 3
    assert hit["scores"]["semantic_rank"] is None
    assert 0 < hit["scores"]["semantic_distance"] < 2


async def test_distances_grow(filled: Thread) -> None:
    body = await filled.search("semantic_search_context", query="payment queue")
    distances = [hit["scores"]["semantic_distance"] for hit in body["results"]]
    assert distances == sorted(distances)
    exact = await filled.search("semantic_search_context", query=ENTRIES[3]["text"], limit=1)
    assert exact["results"][0]["scores"]["semantic_distance"] == pytest.approx(0, abs=0.01)


async def test_words_are_found_in_every_form(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="restarting broker")
    assert [_number(hit) for hit in body["results"]] == [1]
    assert (body["mode"], body["language"]) == ("match", "english")
    [hit] = body["results"]
    assert hit["scores"]["fts_rank"] is None
    assert hit["scores"]["fts_score"] > 0


@pytest.mark.parametrize(
    ("mode", "words", "expected"),
    [
        ("match", "queue payment", {0, 1, 2}),
        ("prefix", "expo", {0}),
        ("phrase", "payment queue drops", {1}),
        ("phrase", "queue payment", set()),
        ("boolean", "queue AND NOT broker", {0, 2}),
        ("boolean", "jitter OR colours", {0, 3}),
    ],
)
async def test_modes(filled: Thread, mode: str, words: str, expected: set[int]) -> None:
    body = await filled.search("fts_search_context", query=words, mode=mode)
    assert body["mode"] == mode
    assert {_number(hit) for hit in body["results"]} == expected


async def test_a_malformed_boolean_query_is_read_as_words_and_says_so(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="(jitter AND", mode="boolean")
    assert body["warnings"]
    assert {_number(hit) for hit in body["results"]} == {0}


async def test_highlights(filled: Thread) -> None:
    body = await filled.search("fts_search_context", query="jitter", highlight=True)
    [hit] = body["results"]
    assert set(hit) == HIT_KEYS | {"scores", "highlighted"}
    assert "jitter" in hit["highlighted"]
    assert hit["highlighted"] != hit["text_content"]


async def test_hybrid_scores_and_modes(filled: Thread) -> None:
    body = await filled.search("hybrid_search_context", query="payment queue broker restart")
    assert body["search_modes_used"] == ["fts", "semantic"]
    assert body["fusion_method"] == "rrf"
    assert (body["fts_count"], body["semantic_count"]) == (3, 4)
    best = body["results"][0]
    assert _number(best) == 1
    scores = best["scores"]
    assert scores["rrf"] == pytest.approx(
        1 / (60 + scores["fts_rank"]) + 1 / (60 + scores["semantic_rank"]), abs=1e-6
    )
    lone = next(hit for hit in body["results"] if _number(hit) == 3)
    assert lone["scores"]["fts_rank"] is None
    assert lone["scores"]["fts_score"] is None
    assert lone["scores"]["semantic_rank"] == 4


@pytest.mark.parametrize("mode", ["fts", "semantic"])
async def test_one_search_mode_alone(filled: Thread, mode: str) -> None:
    body = await filled.search("hybrid_search_context", query="payment queue", search_modes=[mode])
    assert body["search_modes_used"] == [mode]
    other = "semantic" if mode == "fts" else "fts"
    assert body[f"{other}_count"] == 0
    for place, hit in enumerate(body["results"], start=1):
        assert hit["scores"][f"{mode}_rank"] == place
        assert hit["scores"][f"{other}_rank"] is None
        assert hit["scores"]["rrf"] == pytest.approx(1 / (60 + place), abs=1e-6)


async def test_rrf_k_smooths(filled: Thread) -> None:
    for k in (1, 1000):
        body = await filled.search("hybrid_search_context", query="payment queue", rrf_k=k)
        scores = body["results"][0]["scores"]
        ranks = (scores["fts_rank"], scores["semantic_rank"])
        assert scores["rrf"] == pytest.approx(sum(1 / (k + r) for r in ranks if r), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"rrf_k": 0}, "rrf_k"),
        ({"rrf_k": 1001}, "rrf_k"),
        ({"fusion_method": "dbsf"}, "fusion_method"),
        ({"search_modes": []}, "search_modes"),
        ({"search_modes": ["fuzzy"]}, "search_modes.0"),
    ],
)
async def test_hybrid_refuses(filled: Thread, arguments: dict[str, Any], field: str) -> None:
    body = await filled.tools.refused("hybrid_search_context", query="x", **arguments)
    assert body["details"]["field"] == field


async def test_a_long_text_is_found_by_its_end_and_appears_once(thread: Thread) -> None:
    filler = " ".join(f"Paragraph {n} reports on the weather of week {n}." for n in range(60))
    id_ = await thread.store(f"{filler} The certificate of the mail relay expires in May.")
    await thread.store("Weather was fine all week")
    for name in ("semantic_search_context", "hybrid_search_context"):
        body = await thread.search(name, query="mail relay certificate expires")
        assert [hit["id"] for hit in body["results"]].count(id_) == 1
        assert body["results"][0]["id"] == id_


# --- overview ------------------------------------------------------------------------------


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
