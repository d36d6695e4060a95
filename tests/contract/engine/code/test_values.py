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
        "repo_search", query="order total", mode="hybrid", output_format="toon", colour="red"
    )
    assert body["ok"] is True
    assert [text.split(":")[0] for text in body["warnings"]] == ["mode", "output_format", "colour"]
    body = await engine.call(
        "repo_search",
        query="order total",
        output_format="json",
        rerank_timeout_ms=5,
        mode="balanced",
    )
    assert "warnings" not in body


async def test_arguments_of_other_servers_are_not_listed(engine: Engine) -> None:
    [tool] = [each for each in await engine.client.list_tools() if each.name == "repo_search"]
    assert (
        not {"path_regex", "case", "mode", "output_format"} & tool.input_schema["properties"].keys()
    )


async def test_path_regex_chooses_paths(engine: Engine) -> None:
    body = await engine.call(
        "repo_search", query="order total", path_regex=r"/VIEWS\.py$", limit=50
    )
    assert {hit["path"] for hit in body["results"]} == {"src/orders/views.py"}
    body = await engine.call(
        "repo_search", query="order total", path_regex=r"/VIEWS\.py$", case="sensitive"
    )
    assert body["details"]["field"] == "path_regex"
    assert "matches no path" in body["error"]
    body = await engine.call("repo_search", query="order total", path_regex="(")
    assert body["details"]["field"] == "path_regex"


async def test_a_case_sensitive_search_wants_the_words_as_they_are_written(engine: Engine) -> None:
    async def paths(query: str, **arguments: Any) -> set[str]:
        body = await engine.call("repo_search", query=query, limit=50, **arguments)
        assert body["total"] == len(body["results"])
        return {hit["path"] for hit in body["results"]}

    assert "src/orders/views.py" in await paths("ORDER")
    assert await paths("ORDER", case="sensitive") == set()
    assert "src/orders/views.py" in await paths("Order", case="sensitive")
    body = await engine.call("repo_search", query="order", case="upper")
    assert body["details"]["field"] == "case"


async def test_a_mode_puts_documentation_or_code_first(engine: Engine) -> None:
    async def first(mode: str) -> str:
        body = await engine.call("repo_search", query="how do I retry calls", mode=mode)
        return str(body["results"][0]["path"])

    assert (await first("docs_first")).endswith(".md")
    assert not (await first("code_first")).endswith(".md")


async def test_a_workspace_path_is_where_to_search(engine: Engine) -> None:
    whole = await engine.call(
        "repo_search", query="order total", workspace_path=str(engine.workspace)
    )
    plain = await engine.call("repo_search", query="order total")
    assert [hit["path"] for hit in whole["results"]] == [hit["path"] for hit in plain["results"]]
    part = await engine.call(
        "repo_search", query="total", workspace_path=f"{engine.workspace}/src", under="orders"
    )
    assert part["results"]
    assert all(hit["path"].startswith("src/orders/") for hit in part["results"])
    body = await engine.call("repo_search", query="order total", workspace_path="/nowhere")
    assert body["details"]["field"] == "workspace_path"


async def test_session_defaults_of_a_search(engine: Engine) -> None:
    answer = await engine.call(
        "set_session_defaults",
        session="filters",
        under="src/orders",
        language="py",
        mode="balanced",
    )
    wanted = {"under": "src/orders", "language": "python", "mode": "balanced"}
    assert answer["defaults"] == wanted
    body = await engine.call("repo_search", query="retry", session="filters", limit=50)
    assert all(hit["path"].startswith("src/orders/") for hit in body["results"])
    body = await engine.call(
        "repo_search", query="order", session="filters", under="docs", language="markdown"
    )
    assert not any(hit["path"].startswith("src/") for hit in body.get("results", []))
    for name in ("mode", "language"):
        body = await engine.call("set_session_defaults", **{name: "nonsense"})
        assert body["details"]["field"] == name


async def test_a_tool_that_deletes_refuses_what_it_does_not_know(engine: Engine) -> None:
    body = await engine.call("qdrant_prune", dry_run=True)
    assert body["error_code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("repo_search", {"query": "x"}),
        ("exact_search", {"pattern": "x"}),
        ("read_code", {"name": "Order"}),
        ("search_callers_for", {"query": "Order"}),
        ("search_importers_for", {"query": "Order"}),
        ("search_tests_for", {"query": "x"}),
        ("collection_map", {}),
    ],
)
async def test_a_collection_that_is_missing_says_which_call_makes_it(
    engine: Engine, tool: str, arguments: dict[str, Any]
) -> None:
    body = await engine.call(tool, collection="nowhere", **arguments)
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


async def test_a_missing_query_is_told_in_plain_words(engine: Engine) -> None:
    body = await engine.call("repo_search", query=None)
    assert body["error"] == "query: Missing required argument"
