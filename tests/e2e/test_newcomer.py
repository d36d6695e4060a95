"""A newcomer's first five minutes: one server, any project, the command line of its user."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests.support.processes import ROOT, Server, environment, run_ctx, running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def project(home: Path) -> Path:
    folder = home / "my-project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "retries.py").write_text(
        "def retry_with_backoff(call):\n    for attempt in range(3):\n        call()\n"
    )
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def env(home: Path) -> dict[str, str]:
    return environment(home / "data", HOME=str(home))


@pytest.fixture(scope="module")
def server(env: dict[str, str]) -> Iterator[Server]:
    with running(env) as started:  # its workspace is the clone
        yield started


def test_a_folder_is_indexed_from_anywhere_and_searched_from_inside(
    server: Server, env: dict[str, str], project: Path, tmp_path: Path
) -> None:
    before = run_ctx(env, "search", "how are retries done", cwd=project)
    assert before.returncode == 3
    assert "is not indexed" in before.stderr
    assert f"ctx index {project}" in before.stderr
    indexed = run_ctx(env, "index", str(project), cwd=tmp_path)
    assert indexed.returncode == 0, indexed.stderr
    for folder in (project, project / "src"):
        found = run_ctx(env, "search", "how are retries done", cwd=folder)
        assert found.returncode == 0, found.stderr
        assert "retries.py:1-3" in found.stdout
    elsewhere = run_ctx(env, "search", "how are retries done", cwd=tmp_path)
    assert (elsewhere.returncode, elsewhere.stdout) == (3, "")
    assert str(tmp_path) in elsewhere.stderr


def test_status_and_doctor_tell_what_is_indexed(
    server: Server, env: dict[str, str], project: Path
) -> None:
    run_ctx(env, "index", str(project))
    body = json.loads(run_ctx(env, "status", "--json").stdout)
    [workspace] = body["workspaces"]
    assert workspace["path"] == str(project)
    assert (workspace["files"], workspace["state"]) == (1, "completed")
    assert workspace["chunks"] >= 1
    for command in ("status", "doctor"):
        shown = run_ctx(env, command).stdout
        assert str(project) in shown
        assert "1 files" in shown
        assert "less than a minute old" in shown


async def test_other_clients_stay_inside_the_workspace(server: Server, project: Path) -> None:
    async with Client(server.indexer_http) as client:
        result = await client.call_tool_mcp("qdrant_index", {"subdir": str(project)})
    assert result.is_error
    assert result.structured_content is not None
    assert "outside" in result.structured_content["error"]


async def test_what_is_for_the_owner_is_offered_to_nobody_else(server: Server) -> None:
    calls = {
        server.indexer_http: ("drop_collection", {"collection": "codebase"}),
        server.memory_http: ("export_memories", {}),
    }
    for url, (tool, arguments) in calls.items():
        async with Client(url) as client:
            assert tool not in {each.name for each in await client.list_tools()}
            result = await client.call_tool_mcp(tool, arguments)
        assert result.is_error
        assert result.structured_content is not None
        assert "no tool named" in result.structured_content["error"]


def test_the_owner_token_is_the_users_own(server: Server, env: dict[str, str]) -> None:
    file = Path(env["CTX_DATA_DIR"]) / "owner.token"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("arguments", [("--limit", "1000"), ("--limit", "0"), ("--kind", " ")])
def test_validation_is_the_same_without_a_server(
    server: Server, env: dict[str, str], project: Path, tmp_path: Path, arguments: tuple[str, str]
) -> None:
    run_ctx(env, "index", str(project))
    alone = environment(tmp_path / "data")
    answers = [run_ctx(each, "search", "retries", *arguments, cwd=project) for each in (env, alone)]
    assert answers[0].returncode == answers[1].returncode
    assert answers[0].stderr == answers[1].stderr


def test_the_home_folder_is_refused(server: Server, env: dict[str, str], home: Path) -> None:
    refused = run_ctx(env, "index", str(home))
    assert refused.returncode == 2
    assert "home folder" in refused.stderr


@pytest.mark.parametrize("place", ["home", "missing"])
def test_a_wrong_workspace_stops_the_start(tmp_path: Path, place: str) -> None:
    workspace = tmp_path if place == "home" else tmp_path / "missing"
    env = environment(tmp_path / "data", HOME=str(tmp_path), CTX_WORKSPACE=str(workspace))
    stopped = run_ctx(env, "up")
    assert stopped.returncode == 2
    assert "CTX_WORKSPACE" in stopped.stderr


async def test_the_documented_stdio_command_works_from_any_folder(tmp_path: Path) -> None:
    """Even from one with a package of the same name."""
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "__init__.py").write_text("raise SystemExit('not this one')")
    page = (ROOT / "docs" / "clients.md").read_text()
    [documented] = re.findall(r"`python (-m ctx_memory --transports stdio)`", page)
    env = environment(tmp_path / "data", PYTHONPATH=str(ROOT))
    way = StdioTransport(sys.executable, documented.split(), env=env, cwd=str(tmp_path))
    async with Client(way) as client:
        assert "store" in {tool.name for tool in await client.list_tools()}
