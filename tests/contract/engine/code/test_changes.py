"""`change_history_for_path` and `search_commits_for` over MCP."""

from pathlib import Path

import pytest

from tests.contract.engine.code.conftest import Engine
from tests.support.repositories import Repository, function

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = Repository.create(tmp_path_factory.mktemp("changes") / "shop")
    repository.write("pool.py", function("acquire"))
    repository.commit("Add a pool of connections")
    repository.git("mv", "pool.py", "connections.py")
    repository.commit("fix(net): wait for a free connection\n\nClients failed under load (#12).")
    return repository.root


async def test_the_changes_of_a_file(engine: Engine) -> None:
    found = await engine.call("change_history_for_path", path="connections.py")
    summary = found["summary"]
    assert summary["path"] == "connections.py"
    assert summary["points_scanned"] == summary["distinct_hashes"] == 1
    assert summary["last_modified"] == summary["last_modified_max"]
    assert summary["ingested_min"] == summary["ingested_max"] >= summary["last_modified"]
    assert [commit["message"] for commit in summary["commits"]] == [
        "fix(net): wait for a free connection",
        "Add a pool of connections",
    ]
    newest, oldest = summary["commits"]
    assert oldest["path"] == "pool.py"
    assert "path" not in newest
    assert newest["author_name"]
    assert newest["authored_date"][:2] == "20"
    text = await engine.text("change_history_for_path", path="connections.py", limit=1)
    assert text.startswith("connections.py: modified 20")
    assert newest["commit_id"][:10] in text
    bare = await engine.call(
        "change_history_for_path", path="connections.py", include_commits=False
    )
    assert "commits" not in bare["summary"]


async def test_commits(engine: Engine) -> None:
    found = await engine.call("search_commits_for", query="failed under load")
    assert set(found) == {"ok", "query", "results", "total", "scanned"}
    assert found["scanned"] == 2
    first = found["results"][0]
    assert first["message"] == "fix(net): wait for a free connection"
    assert first["lineage_goal"] == "Clients failed under load (#12)."
    assert first["lineage_tags"] == ["fix", "#12"]
    assert first["why"][0] == "message: failed under load"
    assert "connections.py" in first["files"]
    assert 0 < first["score"] <= 1
    text = await engine.text("search_commits_for", query="failed under load", limit=1)
    assert first["commit_id"][:10] in text
    assert "Clients failed under load" in text
    of_path = await engine.call("search_commits_for", query="pool", path="connections.py")
    assert [each["commit_id"] for each in of_path["results"]] == [first["commit_id"]]


async def test_the_history_is_no_collection_of_code(engine: Engine) -> None:
    await engine.call("search_commits_for", query="pool")
    body = await engine.call("repo_search", query="pool", collection="codebase-history")
    assert body["error_code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("change_history_for_path", {}, "path"),
        ("change_history_for_path", {"path": "nowhere.py"}, "path"),
        ("change_history_for_path", {"path": "connections.py", "max_points": 0}, "max_points"),
        ("search_commits_for", {"query": " "}, "query"),
        ("search_commits_for", {"query": "x", "limit": 0}, "limit"),
        ("search_commits_for", {"query": "x", "repo": "other"}, "repo"),
        ("search_commits_for", {"query": "x", "path": "../etc"}, "path"),
    ],
)
async def test_wrong_values_name_their_field(
    engine: Engine, tool: str, arguments: dict[str, object], field: str
) -> None:
    body = await engine.call(tool, **arguments)
    assert body["error_code"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field
