"""A call asks once which checkouts there are: all below its tool is handed the one view."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.corpus import FILES
from tests.support.processes import Server, environment, running
from tests.support.repositories import Repository
from tests.support.tool_client import ToolClient

LISTINGS = re.compile(r"^ctx_checkout_listings\{[^}]*\} ([\d.]+)$", re.MULTILINE)
SYMBOL = "retry_call"
QUESTION = "how are retries delayed"
CODE = f"""from legacy.retry import {SYMBOL}


def test_{SYMBOL}() -> None:
    {SYMBOL}(print)
"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("repo_search", {"query": QUESTION}),
    ("repo_search", {"query": f"{QUESTION} under:src", "workspace_path": "src"}),
    ("code_search", {"query": SYMBOL, "path_glob": "src/**"}),
    ("exact_search", {"pattern": SYMBOL, "under": "src"}),
    ("read_code", {"name": SYMBOL}),
    ("read_code", {"name": SYMBOL, "path": "src/legacy"}),
    ("read_code", {"path": "src/legacy/retry.py", "outline": True}),
    ("search_callers_for", {"query": SYMBOL}),
    ("search_importers_for", {"query": SYMBOL}),
    ("symbol_graph", {"query": SYMBOL}),
    ("context_answer", {"query": f"what calls {SYMBOL}"}),
    ("context_answer", {"query": [QUESTION, SYMBOL], "mode": "pack"}),
    ("context_search", {"query": QUESTION}),
    ("info_request", {"info_request": QUESTION, "include_relationships": True}),
    ("search_tests_for", {"query": SYMBOL}),
    ("search_tests_for", {"query": "ConnectionPool"}),
    ("search_tests_for", {"query": QUESTION}),
    ("search_config_for", {"query": "dependencies"}),
    ("search_commits_for", {"query": "first"}),
    ("change_history_for_path", {"path": "src/legacy/retry.py"}),
    ("qdrant_status", {}),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    repository = Repository.create(tmp_path_factory.mktemp("one") / "shop")
    for name, text in {**FILES, "tests/test_retry_call.py": CODE}.items():
        repository.write(name, text)
    repository.commit("The first")
    repository.git("worktree", "add", "-q", str(repository.root.parent / "tree"))
    data = tmp_path_factory.mktemp("data")
    env = environment(data, CTX_WORKSPACE=str(repository.root), CTX_WATCH="off")
    with running(env) as opened:
        failed, answer = asyncio.run(ToolClient(opened, "none").call("indexer", "qdrant_index", {}))
        assert not failed, answer
        yield opened


def listings(server: Server) -> float:
    text = httpx.get(f"{server.indexer_health}/metrics", trust_env=False).text
    [found] = LISTINGS.findall(text)
    return float(found)


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_checkouts_are_listed_once(
    server: Server, tool: str, arguments: dict[str, Any]
) -> None:
    before = listings(server)
    failed, answer = await ToolClient(server, "none").call("indexer", tool, arguments)
    assert not failed, answer
    assert json.loads(answer)["result"]["structuredContent"]["ok"]
    assert listings(server) == before + 1
