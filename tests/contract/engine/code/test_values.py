"""Wrong values are errors; null is not given; arguments of other servers are understood."""

from typing import Any

import pytest

from tests.contract.engine.code.conftest import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"kind": "fnction"}, "kind", "did you mean function"),
        ({"language": "pythn"}, "language", "did you mean python"),
        ({"repo": "shopp"}, "repo", "did you mean shop"),
        ({"repo": ["shop", "other"], "symbol": "no_such_name"}, "repo", "'other' is unknown"),
        ({"under": "src/nowhere"}, "under", "allowed: "),
        ({"path_glob": "**/*.nothing"}, "path_glob", "matches no path"),
    ],
)
async def test_an_unknown_value_is_named(
    engine: Engine, arguments: dict[str, Any], field: str, said: str
) -> None:
    body = await engine.call("repo_search", query="order total", **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field
    assert said in body["error"]


@pytest.mark.parametrize("language", ["py", "Python", ".py", "PY"])
async def test_languages_have_other_names(engine: Engine, language: str) -> None:
    body = await engine.call("repo_search", query="order total", language=language)
    assert body["results"]
    assert {hit["metadata"]["language"] for hit in body["results"]} == {"python"}
    body = await engine.call("exact_search", pattern="def total", language=language)
    assert body["total"] == 2


async def test_null_is_not_given(engine: Engine) -> None:
    plain = await engine.call("repo_search", query="order total")
    nulls = await engine.call(
        "repo_search",
        query="order total",
        limit=None,
        per_path=None,
        include_snippet=None,
        kind=None,
        rerank_top_n=None,
    )
    assert [hit["path"] for hit in nulls["results"]] == [hit["path"] for hit in plain["results"]]
    assert "warnings" not in nulls


async def test_arguments_of_other_servers(engine: Engine) -> None:
    body = await engine.call("repo_search", queries=["order total"], top_k=2, compact=True)
    assert len(body["results"]) == 2
    assert all("snippet" not in hit for hit in body["results"])
    assert "warnings" not in body
    body = await engine.call("code_search", query="order total", not_="views", kwargs={"limit": 9})
    assert body["results"]
    assert all("views" not in hit["path"] for hit in body["results"])
    body = await engine.call(
        "repo_search", query="order total", mode="hybrid", case="sensitive", rerank_timeout_ms=5
    )
    assert body["ok"] is True
    assert [text.split(":")[0] for text in body["warnings"]] == [
        "case",
        "mode",
        "rerank_timeout_ms",
    ]


async def test_a_tool_that_deletes_refuses_what_it_does_not_know(engine: Engine) -> None:
    body = await engine.call("qdrant_prune", dry_run=True)
    assert body["error_code"] == "VALIDATION_ERROR"


async def test_a_collection_that_is_missing_says_which_call_makes_it(engine: Engine) -> None:
    body = await engine.call("repo_search", query="x", collection="nowhere")
    assert body["error_code"] == "COLLECTION_NOT_FOUND"
    assert "qdrant_index" in body["error"]


async def test_an_unknown_collection_cannot_be_a_default(engine: Engine) -> None:
    body = await engine.call("set_session_defaults", collection="nowhere")
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == "collection"
    assert "there are: codebase" in body["error"]
    assert "qdrant_index" in body["error"]
    body = await engine.call("set_session_defaults", collection="codebase", session="known")
    assert body["defaults"] == {"collection": "codebase"}


async def test_workspace_info_names_the_collection_that_searches_use(engine: Engine) -> None:
    before = await engine.call("workspace_info")
    await engine.call("qdrant_index", collection="elsewhere")
    after = await engine.call("workspace_info")
    assert after["default_collection"] == before["default_collection"]
    assert after["state"]["collection_name"] == "elsewhere"
    assert (await engine.call("repo_search", query="order total"))["results"]
