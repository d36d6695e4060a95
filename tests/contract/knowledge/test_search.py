"""`context_search`: by meaning and by words, with file and line, following every edit."""

import asyncio

import pytest
import pytest_asyncio

from tests.contract.knowledge.conftest import Tools
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = {
    "architecture": "# Architecture\n\nWe use a microservices architecture with gRPC.\n\n"
    "- The web shop talks to billing.\n- Invoices are written at night.\n",
    "testing": "# Testing\n\nRun the unit tests before every commit.\n",
    "deployment": "# Deployment\n\nThe release goes to staging first, then to production.\n\n"
    "```sh\nmake release\n```\n",
    "people": "# People\n\nAnn answers questions about vacation and sick leave.\n",
}


@pytest_asyncio.fixture(loop_scope="module")
async def filled(tools: Tools) -> Tools:
    for key, text in TEXTS.items():
        await tools.call("context_add_knowledge", key=key, content=text)
    return tools


async def best(tools: Tools, query: str) -> dict[str, object]:
    found = await tools.call("context_search", query=query)
    assert found, query
    first: dict[str, object] = found[0]
    return first


async def test_a_result_has_file_line_text_and_score(filled: Tools) -> None:
    hit = await best(filled, "microservices grpc")
    assert hit == {
        "key": "architecture",
        "file": "knowledge/architecture.md",
        "line": 3,
        "text": "We use a microservices architecture with gRPC.",
        "score": hit["score"],
    }
    assert 0.3 < float(str(hit["score"])) <= 1


@pytest.mark.parametrize(
    ("query", "key", "line"),
    [
        ("GRPC", "architecture", 3),
        ("micro", "architecture", 3),  # a part of a word
        ("invoice", "architecture", 6),
        ("who do I ask for holidays", "people", 3),
        ("make release", "deployment", 6),
        ("deployment", "deployment", 1),
    ],
)
async def test_words_and_meaning(filled: Tools, query: str, key: str, line: int) -> None:
    hit = await best(filled, query)
    assert (hit["key"], hit["line"]) == (key, line)


@pytest.mark.parametrize("query", ["", "   "])
async def test_an_empty_query_finds_nothing(filled: Tools, query: str) -> None:
    assert await filled.call("context_search", query=query) == []


@pytest.mark.parametrize(
    "query", ["zxqv blorp", "zebra in the blorp", "purple elephants dance the tango"]
)
async def test_nonsense_finds_nothing(filled: Tools, query: str) -> None:
    assert await filled.call("context_search", query=query) == []


async def test_scores_fall_and_results_are_few(filled: Tools) -> None:
    found = await filled.call("context_search", query="release tests to staging")
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) <= 20


async def test_edits_in_an_editor_are_followed(filled: Tools) -> None:
    path = filled.folder / "knowledge" / "testing.md"
    await filled.call("context_search", query="unit tests")
    path.write_text("# Testing\n\n\nCoverage is measured by zebrafish.\n")
    hit = await best(filled, "zebrafish")
    assert (hit["key"], hit["line"]) == ("testing", 4)
    path.unlink()
    found = await filled.call("context_search", query="zebrafish coverage is measured")
    assert "testing" not in {hit["key"] for hit in found}
    path.rename(path) if path.exists() else path.write_text(TEXTS["testing"])
    assert (await best(filled, "unit tests before commit"))["key"] == "testing"


async def test_a_file_that_moved_is_found_where_it_is(filled: Tools) -> None:
    await filled.call("context_search", query="vacation")
    (filled.folder / "knowledge" / "people.md").rename(filled.folder / "knowledge" / "team.md")
    found = await filled.call("context_search", query="who knows about vacation")
    assert [hit["key"] for hit in found if "Ann" in hit["text"]] == ["team"]


async def test_decisions_conventions_and_skills_are_found(filled: Tools) -> None:
    await filled.call("context_record_decision", title="Choose Kafka", decision="Kafka for events")
    await filled.call("context_add_convention", key="naming", content="Tables are plural nouns.")
    await filled.call(
        "context_add_skill", name="Rotate Keys", description="d", instructions="Open the vault."
    )
    assert (await best(filled, "kafka for events"))[
        "file"
    ] == "knowledge/decisions/0001-choose-kafka.md"
    placeholders = await filled.call("context_search", query="no decision recorded")
    assert not any(hit["text"].startswith("(no ") for hit in placeholders)
    assert (await best(filled, "plural nouns"))["key"] == "naming"
    assert (await best(filled, "open the vault"))["key"] == "rotate-keys"


@pytest.mark.parametrize("scope", ["private", "ephemeral"])
async def test_private_entries_are_found_and_marked(filled: Tools, scope: str) -> None:
    await filled.call(
        "context_add_knowledge", key="own", content="The axolotl is ours.", scope=scope
    )
    hit = await best(filled, "axolotl")
    assert (hit["key"], hit["scope"]) == ("own", scope)
    await filled.call("context_remove_knowledge", key="own")
    assert "own" not in {h["key"] for h in await filled.call("context_search", query="axolotl")}


async def test_projects_do_not_see_each_other(filled: Tools) -> None:
    other = Tools(filled.client, Repository.create(filled.root.parent / "other"))
    await other.call("context_add_knowledge", key="x", content="An entry about gRPC elsewhere.")
    assert {hit["key"] for hit in await other.call("context_search", query="grpc")} == {"x"}
    assert "x" not in {hit["key"] for hit in await filled.call("context_search", query="grpc")}


async def test_searches_at_once(filled: Tools) -> None:
    queries = ["grpc", "unit tests", "staging", "vacation"] * 5
    found = await asyncio.gather(*(best(filled, query) for query in queries))
    assert [hit["key"] for hit in found] == [
        "architecture", "testing", "deployment", "people"
    ] * 5  # fmt: skip
