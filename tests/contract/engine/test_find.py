"""`find`: keys, scores, highlights, filters, limits and errors."""

from typing import Any

import pytest
import pytest_asyncio

from tests.support.contract import Collection, Tools

pytestmark = pytest.mark.asyncio(loop_scope="package")

MEMORIES: list[tuple[str, dict[str, Any]]] = [
    (
        "Process large files with generators so that memory stays flat",
        {
            "kind": "pattern",
            "language": "Python",
            "topic": "performance",
            "tags": ["generators", "files"],
            "priority": 8,
        },
    ),
    (
        "Connection pools are sized by the number of workers",
        {
            "kind": "explanation",
            "language": "go",
            "topic": "databases",
            "tags": ["Pooling", "SQL"],
            "priority": 5,
        },
    ),
    ("Retry with jitter, never in lockstep", {"kind": "pattern", "priority": 9}),
    ("A note without metadata", {}),
]


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def filled(tools: Tools) -> Collection:
    """A collection with the samples in it, which tests only read."""
    collection = await Collection.open(tools)
    for information, metadata in MEMORIES:
        await collection.store(information, **metadata)
    return collection


async def test_the_keys_of_the_result_and_of_each_hit(filled: Collection) -> None:
    body = await filled.find("large files")
    assert set(body) == {"ok", "results", "total", "query"}
    assert (body["ok"], body["query"], body["total"]) == (True, "large files", len(MEMORIES))
    for hit in body["results"]:
        assert set(hit) == {"id", "information", "metadata", "score", "highlights"}
        assert 0 < hit["score"] <= 1


async def test_the_best_comes_first_and_its_words_are_marked(filled: Collection) -> None:
    results = (await filled.find("generators for large files"))["results"]
    assert results[0]["information"] == MEMORIES[0][0]
    scores = [hit["score"] for hit in results]
    assert scores == sorted(scores, reverse=True)
    assert any("<<generators>>" in text for text in results[0]["highlights"])


async def test_meaning_is_found_without_the_words(filled: Collection) -> None:
    [hit] = (await filled.find("how many database sessions to keep open", limit=1))["results"]
    assert hit["information"] == MEMORIES[1][0]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "pattern"}, {0, 2}),
        ({"language": "PYTHON"}, {0}),
        ({"topic": "Databases"}, {1}),
        ({"tags": "sql, files"}, {0, 1}),
        ({"tags": ["pooling"]}, {1}),
        ({"priority_min": 8}, {0, 2}),
        ({"kind": "pattern", "priority_min": 9}, {2}),
        ({"kind": "reference"}, set()),
    ],
)
async def test_filters(filled: Collection, filters: dict[str, Any], expected: set[int]) -> None:
    body = await filled.find("anything", **filters)
    found = {hit["information"] for hit in body["results"]}
    assert found == {MEMORIES[number][0] for number in expected}
    assert body["total"] == len(expected)


async def test_total_counts_beyond_the_limit(filled: Collection) -> None:
    body = await filled.find("note", limit=1)
    assert (len(body["results"]), body["total"]) == (1, len(MEMORIES))


async def test_ten_results_by_default(collection: Collection) -> None:
    for number in range(12):
        await collection.store(f"note number {number}")
    assert len((await collection.find("note"))["results"]) == 10
    assert len((await collection.find("note", limit=100))["results"]) == 12


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": " "}, "query"),
        ({"query": "x" * 1001}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "priority_min": 11}, "priority_min"),
        ({"query": "x", "session": "never-given"}, "session"),
    ],
)
async def test_wrong_arguments_are_refused(
    tools: Tools, arguments: dict[str, Any], field: str
) -> None:
    body = await tools.refused("find", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field


async def test_an_empty_collection_has_no_results(collection: Collection) -> None:
    assert (await collection.find("x"))["results"] == []


@pytest.mark.parametrize(
    ("query", "is_weak"),
    [
        ("incident", False),
        ("deadlock", False),
        ("locked table", False),
        ("salary of Anna", True),
        ("capital of Peru", True),
        ("what is it", True),
    ],
)
async def test_keywords_of_a_memory_are_never_weak(
    collection: Collection, query: str, is_weak: bool
) -> None:
    await collection.store("Incident on 11 November: the checkout was down, a table was locked.")
    await collection.store("The invoice worker deadlocked: rows were taken in opposite order.")
    await collection.store("Anna owns the checkout frontend; ask her before changing the cart.")
    assert (await collection.find(query)).get("weak", False) is is_weak
