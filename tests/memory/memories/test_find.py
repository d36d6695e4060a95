"""`store` and `find` over real parts."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from ctx_core.errors import CollectionNotFound, InvalidInput
from ctx_core.memories.memory import MemoryFilters
from ctx_core.memories.metadata import Metadata
from ctx_memory.memories.memories import Memories, _draft

CORPUS = {
    "Process large files with generators so that memory stays flat": Metadata(
        kind="pattern", language="Python", topic="performance", tags=["generators"], priority=8
    ),
    "Connection pools are sized by the number of workers": Metadata(
        kind="explanation", language="go", topic="databases", tags=["Pooling", "SQL"], priority=5
    ),
    "parseHTTPResponse drops the body when the length header is missing": Metadata(
        kind="snippet", language="typescript", tags=["http"], code="parseHTTPResponse(raw)"
    ),
    "Retry with jitter, never in lockstep": Metadata(kind="pattern", priority=9),
    "A note that has no metadata at all": None,
}


@pytest.fixture
async def filled(memories: Memories) -> Memories:
    for information, metadata in CORPUS.items():
        assert "degraded" not in await memories.store(information, metadata)
    return memories


async def found(memories: Memories, query: str, **filters: object) -> list[str]:
    hits, *_ = await memories.find(query, MemoryFilters(**filters), 10)  # type: ignore[arg-type]
    return [hit["information"] for hit in hits]


async def test_by_meaning_and_by_words(filled: Memories) -> None:
    assert (await found(filled, "flat memory for big files"))[0].startswith("Process large")
    assert (await found(filled, "parse http response"))[0].startswith("parseHTTPResponse")
    assert (await found(filled, "workers pool"))[0].startswith("Connection pools")


async def test_a_hit_shows_everything_that_was_stored(filled: Memories) -> None:
    hits, total, *_ = await filled.find("generators memory", MemoryFilters(), 1)
    (hit,) = hits
    assert total == len(CORPUS)
    assert set(hit) == {"id", "information", "metadata", "score", "highlights"}
    assert 0.5 < hit["score"] <= 1.0
    assert hit["metadata"]["language"] == "Python"
    assert hit["metadata"]["tags"] == ["generators"]
    assert datetime.fromisoformat(hit["metadata"]["created_at"]).tzinfo == UTC
    assert any("<<generators>>" in fragment for fragment in hit["highlights"])


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "pattern"}, 2),
        ({"language": "PYTHON"}, 1),
        ({"topic": "Databases"}, 1),
        ({"tags": ["sql", "http"]}, 2),
        ({"tags": [" pooling "]}, 1),
        ({"priority_min": 8}, 2),
        ({"priority_min": 8, "language": "python"}, 1),
        ({"kind": "reference"}, 0),
    ],
)
async def test_filters(filled: Memories, filters: dict[str, object], expected: int) -> None:
    hits, total, *_ = await filled.find("anything", MemoryFilters(**filters), 10)  # type: ignore[arg-type]
    assert len(hits) == total == expected


async def test_total_counts_beyond_the_limit(filled: Memories) -> None:
    hits, total, *_ = await filled.find("pattern", MemoryFilters(), 2)
    assert (len(hits), total) == (2, len(CORPUS))


async def test_a_filtered_search_is_not_emptied_by_better_strangers(memories: Memories) -> None:
    for number in range(120):
        await memories.store(f"cache invalidation note {number}", Metadata(language="go"))
    await memories.store("something about queues", Metadata(language="rust"))
    assert await found(memories, "cache invalidation note", language="rust") == [
        "something about queues"
    ]


async def test_a_query_of_stop_words_still_answers(filled: Memories) -> None:
    assert len(await found(filled, "what is the")) == len(CORPUS)


@pytest.mark.parametrize("empty", ["", "   ", "\n"])
async def test_empty_texts_are_refused(memories: Memories, empty: str) -> None:
    with pytest.raises(InvalidInput, match="information"):
        await memories.store(empty, None)
    with pytest.raises(InvalidInput, match="query"):
        await memories.find(empty, MemoryFilters(), 10)


async def test_odd_texts_survive(memories: Memories) -> None:
    text = "emoji 🦊, null \x00, rtl שלום, " + "long " * 20_000
    await memories.store(text, Metadata.model_validate({"custom": {"nested": [1, None]}}))
    hits, *_ = await memories.find("emoji fox", MemoryFilters(), 1)
    assert hits[0]["information"] == text
    assert hits[0]["metadata"]["custom"] == {"nested": [1, None]}


async def test_a_given_time_is_kept_in_utc(memories: Memories) -> None:
    metadata = Metadata(created_at=datetime.fromisoformat("2024-01-15T12:30:00+02:00"))
    await memories.store("dated", metadata)
    hits, *_ = await memories.find("dated", MemoryFilters(), 1)
    assert hits[0]["metadata"]["created_at"] == "2024-01-15T10:30:00Z"


async def test_a_session_has_a_collection_of_its_own(memories: Memories) -> None:
    await memories.store("for everybody", None)
    team = f"team-{uuid4().hex[:8]}"
    session = memories.sessions.set(team, None)["session"]
    with pytest.raises(CollectionNotFound):
        await memories.find("anything", MemoryFilters(), 10, session)
    await memories.store("for the team", None, session)
    hits, total, *_ = await memories.find("for", MemoryFilters(), 10, session)
    assert [hit["information"] for hit in hits] == ["for the team"]
    assert total == 1


async def test_scores_compare_between_queries_and_say_when_nothing_fits(filled: Memories) -> None:
    known = ["How should large files be processed?", "What sizes a connection pool?"]
    unknown = ["Who won the football match in Lisbon?", "Which colour has my bicycle?"]
    fitting = [await filled.find(query, MemoryFilters(), 3) for query in known]
    strange = [await filled.find(query, MemoryFilters(), 3) for query in unknown]
    assert not any(each.is_weak for each in fitting)
    assert all(each.is_weak for each in strange)
    lowest = min(each.hits[0]["score"] for each in fitting)
    assert lowest > max(each.hits[0]["score"] for each in strange)


async def test_near_duplicates_are_shown_once(memories: Memories) -> None:
    for text in ("Use tabs in Makefiles", "use TABS in makefiles!", "Use spaces in Python"):
        await memories.store(text, None)
    assert len(await found(memories, "tabs in Makefiles")) == 2


async def test_words_find_a_memory_that_waits_for_its_points(memories: Memories) -> None:
    await memories.store("an older note on gardening", None)
    outbox = memories._outbox
    collection = memories.collection(None)
    await memories._records.add([_draft("the quarterly heron count", Metadata(), collection)])
    assert "the quarterly heron count" not in await found(memories, "heron count")
    outbox.waiting = 1
    assert (await found(memories, "heron count"))[0] == "the quarterly heron count"


async def test_a_time_in_the_question_prefers_memories_of_that_time(memories: Memories) -> None:
    for month in ("04", "05", "06"):
        at = datetime.fromisoformat(f"2023-{month}-10T12:00:00+00:00")
        await memories.store(f"Invoices were exported, batch {month}", Metadata(created_at=at))
    await memories.store("Invoices are exported by the nightly job in batches", None)
    assert (await found(memories, "Which invoices were exported in May 2023?"))[0].endswith("05")
    assert (await found(memories, "invoices exported since June 2023"))[0].endswith(
        ("06", "batches")
    )
    assert len(await found(memories, "invoices exported in May 1999")) == 4
