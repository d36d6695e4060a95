"""Paths of answers and arguments through an MCP client, with repositories inside and outside."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from tests.contract.engine.code.conftest import Engine
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOST = "/home/somebody/shop"
CODE = "def {name}():\n    return PRICE_LIMIT\n"


def write(root: Path, path: str, name: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CODE.format(name=name))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    """A workspace `shop` with a repository in `libs/inner`, and a repository `other` elsewhere."""
    folder = tmp_path_factory.mktemp("paths").resolve()
    shop = Repository.create(folder / "shop")
    write(shop.root, "src/prices.py", "shop_price")
    write(shop.root, "libs/own.py", "own_price")
    inner = Repository.create(shop.root / "libs" / "inner")
    write(inner.root, "src/prices.py", "inner_price")
    other = Repository.create(folder / "elsewhere" / "other")
    write(other.root, "src/prices.py", "other_price")
    settings = Settings(
        data_dir=folder / "data",
        workspace=shop.root,
        workspace_roots=(str(other.root),),
        host_workspace=HOST,
    )
    memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
    async with (
        open_engine(settings, settings.code_model) as opened,
        open_indexer(settings, opened, memories) as indexer,
    ):
        server: Any = build(indexer.service, settings, Metrics("indexer", {}))
        async with Client(server) as client:
            for subdir in ("", "libs/inner", str(other.root)):
                await client.call_tool("qdrant_index", {"subdir": subdir})
            yield Engine(client, shop.root)


async def searched(engine: Engine, **arguments: Any) -> set[str]:
    body = await engine.call("repo_search", query="price limit", **arguments)
    return {hit["path"] for hit in body["results"]}


async def matched(engine: Engine, **arguments: Any) -> set[str]:
    body = await engine.call("exact_search", pattern="PRICE_LIMIT", **arguments)
    return {file["path"] for file in body["results"]}


OWN = {"src/prices.py", "libs/own.py"}
INNER = {"libs/inner/src/prices.py"}


@pytest.mark.parametrize("found", [searched, matched])
async def test_a_search_is_about_the_workspace_by_default(engine: Engine, found: Any) -> None:
    assert await found(engine) == OWN | INNER
    everything = await found(engine, repo="*")
    assert everything > OWN | INNER
    [outside] = everything - OWN - INNER
    assert outside.endswith("/elsewhere/other/src/prices.py")
    assert outside.startswith("/")
    assert await found(engine, repo="other") == {outside}


@pytest.mark.parametrize("found", [searched, matched])
@pytest.mark.parametrize(
    ("under", "paths"),
    [
        ("src", {"src/prices.py"}),
        ("libs", {"libs/own.py"} | INNER),
        ("libs/inner", INNER),
        ("./libs/inner/src/", INNER),
        (f"{HOST}/libs/inner", INNER),
        (f"{HOST}/src", {"src/prices.py"}),
        (HOST, OWN | INNER),
    ],
)
async def test_under_finds_a_repository_inside_the_workspace(
    engine: Engine, found: Any, under: str, paths: set[str]
) -> None:
    assert await found(engine, under=under) == paths


@pytest.mark.parametrize("found", [searched, matched])
@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("libs/inner/src/*.py", INNER),
        ("libs/**", {"libs/own.py"} | INNER),
        ("src/*.py", {"src/prices.py"} | INNER),
        ("own.py", {"libs/own.py"}),
        ("libs\\inner\\**", INNER),
        (".\\libs\\*.py", {"libs/own.py"}),
        (f"{HOST}/libs/inner/**", INNER),
    ],
)
async def test_a_pattern_matches_paths_as_they_are_shown_and_those_of_the_repository(
    engine: Engine, found: Any, pattern: str, paths: set[str]
) -> None:
    assert await found(engine, path_glob=pattern) == paths
    assert await found(engine, not_glob=pattern) == (OWN | INNER) - paths


async def test_a_pattern_of_a_repository_elsewhere(engine: Engine) -> None:
    [outside] = await matched(engine, repo="other")
    folder = outside.rsplit("/", 1)[0]
    assert await matched(engine, repo="*", path_glob=f"{folder}/*") == {outside}
    assert await searched(engine, repo="*", path_glob=f"{folder}/*") == {outside}


async def test_filters_in_the_query_have_the_same_paths(engine: Engine) -> None:
    body = await engine.call("repo_search", query="price limit under:libs/inner")
    assert {hit["path"] for hit in body["results"]} == INNER
    body = await engine.call("repo_search", query="price limit repo:other")
    assert len(body["results"]) == 1


@pytest.mark.parametrize(
    ("path", "symbol"),
    [
        ("src/prices.py", "shop_price"),
        ("libs/inner/src/prices.py", "inner_price"),
        (f"{HOST}/libs/inner/src/prices.py", "inner_price"),
        (f"{HOST}/src/prices.py", "shop_price"),
    ],
)
async def test_every_path_of_an_answer_can_be_read(engine: Engine, path: str, symbol: str) -> None:
    body = await engine.call("read_code", path=path)
    assert symbol in body["code"]
    assert (engine.workspace / body["path"]).is_file()
    named = await engine.call("read_code", name=symbol, path=path)
    assert named["path"] == body["path"]


async def test_a_path_outside_is_read_as_it_was_answered(engine: Engine) -> None:
    [path] = await matched(engine, repo="other")
    body = await engine.call("read_code", path=path, repo="other")
    assert body["path"] == path
    assert "other_price" in body["code"]
