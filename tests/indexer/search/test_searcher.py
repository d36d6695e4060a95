"""Searching a small project over real parts."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from ctx_core.engine.engine import Engine, open_engine
from ctx_core.errors import CollectionNotFound, InvalidInput, ModelMismatch
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_core.vectors.specs import CollectionSpec, EmbeddingModel
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.texts import FileTexts
from ctx_indexer.schema.fields import INDEXES
from ctx_indexer.schema.points import spec
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_queries
from ctx_indexer.search.searcher import Searcher, SearchRequest
from ctx_indexer.service import open_context
from ctx_indexer.tools.code_search import CodeSearch
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.index import index_workspace
from ctx_indexer.tools.search import search_tools
from ctx_indexer.view.view import View
from tests.support.corpus import FILES
from tests.support.vectors.reading import reading

pytestmark = pytest.mark.asyncio(loop_scope="module")

GOLDEN = Path(__file__).parents[2] / "golden" / "rankings.json"
QUERIES = [
    "RetryPolicy",
    "with_retry",
    "acquire",
    "exponential backoff with jitter",
    "how are database connections pooled",
    "create a signed session cookie",
    "check the signature of a token",
    "retry configuration",
    "tests for retry",
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["edge", "server"])
async def search(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator["Search"]:
    root = tmp_path_factory.mktemp("search")
    for name, text in FILES.items():
        path = root / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    url = request.getfixturevalue("qdrant_url") if request.param == "server" else None
    settings = Settings(
        data_dir=root / "data",
        qdrant_url=url,
        collection_name=f"code-{uuid4().hex[:8]}",
        workspace=root / "shop",
    )
    async with open_engine(settings, settings.code_model) as engine:
        with closing(open_context(settings, engine, SessionDefaults())) as context:
            yield await Search.over(settings, engine, context)
        await engine.vectors.delete_collection(settings.collection_name)


class Search:
    """The tool as a client calls it, over a store that a search cannot write to."""

    def __init__(self, tool: Any, engine: Engine, collection: str) -> None:
        self._tool = tool
        self.store = engine.vectors
        self.embedder = engine.embedder
        self.collection = collection

    @classmethod
    async def over(cls, settings: Settings, engine: Engine, context: IndexerContext) -> "Search":
        location = context.workspaces.locate("workspace", str(settings.workspace))
        await index_workspace(context, location, settings.collection_name, recreate=False)
        searcher = Searcher(reading(engine.vectors), engine.embedder)
        lookup = Lookup.over(context.indexer.files, engine.vectors, FileTexts())
        tool, _ = search_tools(CodeSearch(context, searcher, lookup))
        return cls(tool.run, engine, settings.collection_name)

    async def __call__(self, query: str | list[str], **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await self._tool(query=query, **arguments)
        return answer

    async def paths(self, query: str | list[str], **arguments: Any) -> list[str]:
        return [hit["path"] for hit in (await self(query, **arguments))["results"]]


async def test_the_documented_keys(search: Search) -> None:
    answer = await search("retry policy", limit=1)
    assert set(answer) == {
        "ok",
        "results",
        "total",
        "used_rerank",
        "search_time_ms",
        "query",
    }
    (hit,) = answer["results"]
    assert set(hit) == {
        "score",
        "path",
        "symbol",
        "start_line",
        "end_line",
        "snippet",
        "highlights",
        "components",
        "metadata",
    }
    assert {"dense_score", "lexical_score", "reranker_score", "final_score"} <= set(
        hit["components"]
    )
    assert {"language", "kind", "complexity", "tokens"} <= set(hit["metadata"])
    assert hit["score"] == hit["components"]["final_score"]
    assert answer["used_rerank"] is False
    assert answer["total"] > 1
    lines = FILES[hit["path"]].split("\n")
    rows = [f"{number}\t{line}" for number, line in enumerate(lines, 1)]
    assert "\n".join(rows[hit["start_line"] - 1 : hit["end_line"]]) in hit["snippet"]


async def test_golden_rankings(search: Search) -> None:
    """Run with UPDATE_GOLDEN=1 to write them anew; the change is then seen in the diff."""
    found = {
        query: [
            f"{hit['path']}:{hit['start_line']} {hit['symbol']}".strip()
            for hit in (await search(query, limit=5))["results"]
        ]
        for query in QUERIES
    }
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(found, indent=2) + "\n")
    assert found == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"language": "typescript"}, {"src/auth/session.ts", "src/auth/token.ts"}),
        ({"under": "src/auth"}, {"src/auth/session.ts", "src/auth/token.ts"}),
        ({"under": "src/"}, {p for p in FILES if p.startswith("src/")}),
        ({"under": "src/net/pool.py"}, {"src/net/pool.py"}),
        ({"path_glob": "**/test_*.py"}, {"tests/test_retry.py"}),
        ({"path_glob": ["docs/**", "*.toml"]}, {"docs/retry.md", "config/app.toml"}),
        (
            {"path_glob": "**/*.py", "not_glob": ["tests/**", "**/legacy/**"]},
            {"src/net/retry.py", "src/net/pool.py"},
        ),
        ({"ext": "md"}, {"docs/retry.md"}),
        ({"symbol": "ConnectionPool"}, {"src/net/pool.py"}),
        ({"symbol": "RetryPolicy.delay"}, {"src/net/retry.py"}),
        ({"language": "fortran"}, set()),
        ({"repo": "shop", "ext": "md"}, {"docs/retry.md"}),
        ({"repo": "*", "ext": "md"}, {"docs/retry.md"}),
    ],
)
async def test_filters(search: Search, filters: dict[str, Any], expected: set[str]) -> None:
    assert set(await search.paths("anything at all", limit=50, **filters)) == expected


@pytest.mark.parametrize(
    "filters", [{"path_glob": "nothing/**"}, {"language": "cobol"}, {"repo": ["a", "b"]}]
)
async def test_filters_that_nothing_can_pass_are_errors(
    search: Search, filters: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match=next(iter(filters))):
        await search.paths("anything at all", **filters)


@pytest.mark.parametrize("is_test", [True, False])
async def test_flags_filter(search: Search, is_test: bool) -> None:
    request = SearchRequest(parse_queries("retry"), SearchFilters(is_test=is_test), limit=50)
    found = await Searcher(search.store, search.embedder).search(View(search.collection), request)
    assert found.hits
    assert {hit.chunk.flags.is_test for hit in found.hits} == {is_test}


async def test_filters_inside_the_query(search: Search) -> None:
    assert set(await search.paths("retry lang:python not:tests not:legacy")) == {
        "src/net/retry.py",
        "src/net/pool.py",
    }
    assert await search.paths("symbol:createSession") == ["src/auth/session.ts"]
    assert set(await search.paths("retry under:docs")) == {"docs/retry.md"}


async def test_a_kind_includes_related_kinds(search: Search) -> None:
    for kind in ("class", "function"):
        answer = await search("retry", kind=kind, limit=50)
        assert answer["results"]
        kinds = {hit["metadata"]["kind"] for hit in answer["results"]}
        assert kinds <= {kind, "method", "interface", "struct", "enum", "trait", "type"}


async def test_a_list_of_queries_is_one_search(search: Search) -> None:
    paths = await search.paths(["connection pool", "signed cookie"], limit=6)
    assert {"src/net/pool.py", "src/auth/session.ts"} <= set(paths[:4])


async def test_per_path_and_limit(search: Search) -> None:
    paths = await search.paths("retry", limit=50, per_path=1)
    assert len(paths) == len(set(paths))
    assert len(await search.paths("retry", limit=2)) == 2


async def test_snippets_and_highlights_can_be_left_out(search: Search) -> None:
    (hit,) = (await search("retry", limit=1, include_snippet=False, highlight_snippet=False))[
        "results"
    ]
    assert "snippet" not in hit
    assert "highlights" not in hit


async def test_a_missing_reranker_degrades_visibly(search: Search) -> None:
    answer = await search("retry", rerank_enabled=True)
    assert answer["used_rerank"] is False
    assert "RERANK_MODEL" in answer["degraded"][0]
    assert answer["results"]


@pytest.mark.parametrize("query", ["", "   ", "x" * 1001])
async def test_bad_queries(search: Search, query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        await search(query)


async def test_an_unknown_collection(search: Search) -> None:
    with pytest.raises(CollectionNotFound):
        await search("retry", collection="nowhere")


async def test_a_collection_of_another_model_or_of_no_code(search: Search) -> None:
    store, name = search.store, f"other-{uuid4().hex[:8]}"
    await store.ensure_collection(
        name, replace(spec(EmbeddingModel("older-model", 8)), rebuild_command="")
    )
    with pytest.raises(ModelMismatch, match="ctx index --recreate"):
        await search("retry", collection=name)
    await store.delete_collection(name)
    await store.ensure_collection(name, CollectionSpec({"dense": 8}, purpose="notes"))
    with pytest.raises(InvalidInput, match="holds notes, not code"):
        await search("retry", collection=name)
    await store.delete_collection(name)


async def test_a_collection_of_an_earlier_version_says_how_to_rebuild_it(search: Search) -> None:
    """It said nothing of its purpose, and its sparse vector had another name."""
    store, name = search.store, f"older-{uuid4().hex[:8]}"
    ours = spec(search.embedder)
    older = CollectionSpec(ours.dense, ("lex",), indexes=INDEXES, model=ours.model)
    await store.ensure_collection(name, older)
    try:
        with pytest.raises(ModelMismatch, match=f"ctx index --recreate --collection {name}"):
            await search("retry", collection=name)
        assert (await store.collection_info(name)).spec == older
        await store.build(name, ours)
        with pytest.raises(ModelMismatch, match="is being rebuilt"):
            await search("retry", collection=name)
    finally:
        await store.delete_collection(name)


async def test_a_way_out_of_the_workspace_is_refused(search: Search) -> None:
    with pytest.raises(InvalidInput, match="under"):
        await search("retry", under="../../etc")
