"""What a client pays, in tokens, for the lists of tools and for answers to fixed calls."""

import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastmcp import Client
from mcp_types import TextContent

from ctx_core.engine.engine import open_engine
from ctx_core.memories.client import RemoteMemories
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.serving.service import Service
from ctx_core.settings import Settings
from ctx_indexer.service import open_indexer
from ctx_memory.service import open_memory
from scripts.bench.fixtures.clones import bare
from tests.support.corpus import FILES
from tests.support.repositories import Repository
from tests.support.tool_examples import arguments_shown, on_time, shown, steady

GOLDEN = Path(__file__).parents[1] / "golden"
COSTS, EXAMPLES = GOLDEN / "token_costs.json", GOLDEN / "tool_examples.json"
CHARACTERS_PER_TOKEN = 4
LEAN_TOOLS = 8  # of a server
LEAN_TOKENS = 3_000  # of both servers
ALL_TOKENS = 16_000  # of both servers, with every tool
SLACK = 10  # tokens of an answer: times and identifiers have no fixed length
Calls = list[tuple[str, dict[str, Any]]]
INDEXER_CALLS: Calls = [
    ("qdrant_index", {}),
    ("repo_search", {"query": "how are failed calls retried", "limit": 10}),
    ("exact_search", {"pattern": "retry"}),
    ("read_code", {"name": "RetryPolicy"}),
    ("context_answer", {"query": "how are failed calls retried"}),
    ("expand_query", {"query": "how are failed calls retried"}),
    ("context_search", {"query": "how are failed calls retried"}),
    ("change_history_for_path", {"path": "src/net/retry.py"}),
    ("search_commits_for", {"query": "retry"}),
    ("search_tests_for", {"query": "retry"}),
    ("search_config_for", {"query": "retry"}),
    ("info_request", {"info_request": "how are failed calls retried"}),
    ("context_search", {"query": "how are failed calls retried"}),
    ("expand_query", {"query": "how are failed calls retried"}),
    ("search_commits_for", {"query": "retry"}),
    ("change_history_for_path", {"path": sorted(FILES)[0]}),
    ("search_callers_for", {"query": "RetryPolicy"}),
    ("symbol_graph", {"query": "RetryPolicy"}),
    ("search_importers_for", {"query": "RetryPolicy"}),
    ("qdrant_index_root", {}),
    ("qdrant_prune", {}),
    ("qdrant_status", {}),
    ("qdrant_list", {}),
    ("workspace_info", {}),
    ("list_workspaces", {}),
    ("collection_map", {}),
    ("set_session_defaults", {"collection": "codebase"}),
    ("memory_store", {"information": "Retries wait with jitter."}),
]
# `$TOOL.FIELD` stands for what an earlier answer has.
MEMORY_CALLS: Calls = [
    ("store", {"information": "Retries wait with jitter.", "metadata": {"kind": "pattern"}}),
    ("find", {"query": "how do retries wait"}),
    ("list_memories", {}),
    ("update_memory", {"memory_id": "$store.id", "information": "Retries wait."}),
    ("delete_memory", {"memory_ids": "$store.id"}),
    ("rebuild_memories", {}),
    ("set_session_defaults", {"collection": "memories"}),
    ("ping", {}),
]
THREAD_CALLS: Calls = [
    ("store_context", {"thread_id": "one", "source": "user", "text": "We retry with jitter."}),
    ("search_context", {"thread_id": "one"}),
    ("fts_search_context", {"query": "jitter"}),
    ("semantic_search_context", {"query": "jitter"}),
    ("hybrid_search_context", {"query": "jitter"}),
    ("list_threads", {}),
    ("get_statistics", {}),
    ("get_context_by_ids", {"context_ids": ["$store_context.context_id"]}),
    ("update_context", {"context_id": "$store_context.context_id", "text": "We retry."}),
    (
        "store_context_batch",
        {"entries": [{"thread_id": "two", "source": "user", "text": "We wait with jitter."}]},
    ),
    (
        "update_context_batch",
        {"updates": [{"context_id": "$store_context.context_id", "text": "We wait."}]},
    ),
    ("delete_context", {"context_ids": ["$store_context.context_id"]}),
    ("delete_context_batch", {"thread_ids": ["two"]}),
]
CONVERSATION_CALLS: Calls = [
    ("add_message", {"contextId": "one", "role": "user", "message": "Retry with jitter."}),
    ("retrieve_context", {"contextId": "one"}),
    ("summarize_context", {"contextId": "one"}),
    ("get_similar_contexts", {"query": "jitter"}),
    (
        "add_relationship",
        {"sourceContextId": "one", "targetContextId": "two", "relationshipType": "references"},
    ),
    ("get_related_contexts", {"contextId": "one"}),
    ("context_memory", {"action": "retrieve", "contextId": "one"}),
    ("visualize_context", {"contextId": "one"}),
    ("get_api_analytics", {}),
]
KNOWLEDGE_CALLS: Calls = [
    ("context_add_knowledge", {"key": "retries", "content": "Retries wait with jitter."}),
    ("context_search", {"query": "jitter"}),
    ("context_set", {"dotpath": "preferences.team.style", "value": "plain"}),
    ("context_get", {"dotpath": "knowledge.retries"}),
    ("context_add_convention", {"key": "git", "content": "One topic a commit."}),
    ("context_get_convention", {"key": "git"}),
    ("context_list_conventions", {}),
    ("context_get_scope", {"entry_type": "knowledge", "key": "retries"}),
    ("context_set_scope", {"entry_type": "knowledge", "key": "retries", "scope": "private"}),
    (
        "context_add_skill",
        {"name": "deploy", "description": "How to deploy.", "instructions": "Run the script."},
    ),
    ("context_report_skill_usage", {"skill_name": "deploy"}),
    ("context_rate_skill", {"skill_name": "deploy", "rating": 4}),
    (
        "context_propose_skill_improvement",
        {"skill_name": "deploy", "proposed_content": "Run the script twice."},
    ),
    ("context_list_skill_proposals", {}),
    ("context_record_decision", {"title": "Retry", "decision": "With jitter."}),
    ("context_update_state", {"current_task": "Retries"}),
    ("context_append_session", {"agent": "one", "summary": "Wrote retries."}),
    ("context_sync_push", {}),
    ("context_sync_pull", {}),
    ("context_merge_status", {}),
    ("context_conflict_detail", {"file_path": "knowledge/retries.md"}),
    ("context_resolve_conflict", {"file_path": "knowledge/retries.md", "content": "x"}),
    ("context_merge_finalize", {}),
    ("context_merge_abort", {}),
    ("context_rm_convention", {"key": "git"}),
    ("context_remove_skill", {"name": "deploy"}),
    ("context_remove_knowledge", {"key": "retries"}),
]
CALLS: dict[str, Calls] = {
    "indexer": INDEXER_CALLS,
    "memory": [*MEMORY_CALLS, *THREAD_CALLS, *CONVERSATION_CALLS, *KNOWLEDGE_CALLS],
}
# Calls that are refused here: the indexer has no memory server, and no merge has a conflict.
REFUSED = frozenset(
    "memory_store context_conflict_detail context_resolve_conflict context_merge_finalize "
    "context_merge_abort".split()
)


@contextlib.asynccontextmanager
async def served(
    server: str, folder: Path, toolset: str
) -> AsyncIterator[tuple[Client[Any], Service]]:
    """Open one of the servers in this process, and a client to it."""
    settings = Settings(
        data_dir=folder / f"{server}-{toolset}", workspace=folder / "shop", toolsets=(toolset,)
    )
    async with contextlib.AsyncExitStack() as stack:
        model = settings.code_model if server == "indexer" else settings.memory_model
        engine = await stack.enter_async_context(open_engine(settings, model))
        service: Service
        if server == "indexer":
            memories = RemoteMemories("http://127.0.0.1:9/mcp", None)
            opened = open_indexer(settings, engine, memories)
            service = (await stack.enter_async_context(opened)).service
        else:
            service = (await stack.enter_async_context(open_memory(settings, engine))).service
        mcp: Any = build(service, settings, Metrics(server, {}))
        yield await stack.enter_async_context(Client(mcp)), service


async def listed(client: Client[Any]) -> dict[str, Any]:
    """Return the listed tools by name, as they are sent."""
    tools = await client.list_tools()
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in tools}


def tokens(text: str) -> int:
    return len(text) // CHARACTERS_PER_TOKEN


async def answers(
    client: Client[Any], server: str, folder: Path, examples: dict[str, dict[str, str]]
) -> dict[str, int]:
    """Return the cost of the answer to each fixed call, without the name of the test's folder.

    The first call of each tool is an example of the docs.
    """
    costs = {}
    earlier: dict[str, Any] = {}
    for name, arguments in CALLS[server]:
        filled = _filled(arguments, earlier)
        answer = await client.call_tool(name, filled, raise_on_error=False)
        assert answer.is_error == (name in REFUSED), (name, answer.content)
        earlier[name] = answer.structured_content
        text = "".join(block.text for block in answer.content if isinstance(block, TextContent))
        assert text, name
        text = on_time(text)
        example = {"call": arguments_shown(filled, folder), "answer": shown(text, folder)}
        examples.setdefault(f"{server} {name}", example)
        costs[f"answer of {server}'s {name}"] = tokens(text.replace(str(folder), ""))
    return costs


def _filled(value: Any, earlier: dict[str, Any]) -> Any:
    """Put in what earlier answers have."""
    if isinstance(value, list):
        return [_filled(each, earlier) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, earlier) for key, each in value.items()}
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    tool, field = value[1:].split(".")
    return earlier[tool][field]


async def server_costs(
    server: str, folder: Path, examples: dict[str, dict[str, str]]
) -> dict[str, int]:
    """Return the costs of a server's answers, of all its tools, and of each toolset."""
    async with served(server, folder, "all") as (client, service):
        tools = await listed(client)
        called = {name for name, _ in CALLS[server]}
        assert called == {tool.name for tool in service.tools if not tool.alias_of}
        costs = await answers(client, server, folder, examples)
    costs[f"tools of {server}, all"] = tokens(json.dumps(list(tools.values())))
    for toolset in sorted(service.toolsets):
        bodies = [tools[tool.name] for tool in service.tools if tool.toolset == toolset]
        costs[f"tools of {server}, {toolset}"] = tokens(json.dumps(bodies))
    async with served(server, folder, "lean") as (client, _):
        lean = await listed(client)
    assert 0 < len(lean) <= LEAN_TOOLS
    costs[f"tools of {server}, lean"] = tokens(json.dumps(list(lean.values())))
    return costs


async def test_no_list_and_no_answer_grows_unnoticed(tmp_path: Path) -> None:
    """Run with UPDATE_GOLDEN=1 to write the costs anew; the change is then seen in the diff."""
    repository = Repository.create(tmp_path / "shop")
    repository.git("remote", "add", "origin", str(bare(tmp_path / "remote")))
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    repository.commit("Retry failed calls with jitter")
    examples: dict[str, dict[str, str]] = {}
    costs = {
        **await server_costs("indexer", tmp_path, examples),
        **await server_costs("memory", tmp_path, examples),
    }
    if os.environ.get("UPDATE_GOLDEN"):
        EXAMPLES.write_text(json.dumps(examples, indent=1, ensure_ascii=False) + "\n")
        COSTS.write_text(json.dumps(costs, indent=2) + "\n")
    committed = json.loads(COSTS.read_text())
    assert costs.keys() == committed.keys()
    slack = {name: SLACK if name.startswith("answer") else 0 for name in costs}
    grown = {name: cost for name, cost in costs.items() if cost > committed[name] + slack[name]}
    assert grown == {}
    assert {name: each["call"] for name, each in examples.items()} == {
        name: each["call"] for name, each in json.loads(EXAMPLES.read_text()).items()
    }
    for name, example in json.loads(EXAMPLES.read_text()).items():
        assert steady(examples[name]["answer"]) == steady(example["answer"]), name
    servers = ("indexer", "memory")
    assert sum(costs[f"tools of {server}, lean"] for server in servers) <= LEAN_TOKENS
    assert sum(costs[f"tools of {server}, all"] for server in servers) <= ALL_TOKENS
