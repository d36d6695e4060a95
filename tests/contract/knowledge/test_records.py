"""The tools for decisions, state, sessions and scopes, as their contract has them."""

import json
from uuid import UUID

import pytest

from tests.contract.knowledge.conftest import Tools

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_decisions_are_numbered_files(tools: Tools) -> None:
    first = await tools.call(
        "context_record_decision",
        title="Use PostgreSQL for persistence",
        context="Need ACID transactions",
        decision="PostgreSQL 16",
        consequences="The team learns it",
    )
    assert first == {"status": "ok", "id": 1, "title": "Use PostgreSQL for persistence"}
    second = await tools.call("context_record_decision", title="gRPC / HTTP")
    assert second["id"] == 2
    folder = tools.folder / "knowledge" / "decisions"
    assert sorted(path.name for path in folder.iterdir()) == [
        "0001-use-postgresql-for-persistence.md",
        "0002-grpc-http.md",
    ]
    lines = (folder / "0001-use-postgresql-for-persistence.md").read_text().split("\n")
    assert lines[0] == "# 0001 - Use PostgreSQL for persistence"
    assert lines[1] == ""
    assert lines[2].startswith("**Date**: 20")
    assert lines[3:5] == ["**Status**: accepted", "**Author**: mcp:mcp"]
    assert lines[6:9] == ["## Context", "", "Need ACID transactions"]
    empty = (folder / "0002-grpc-http.md").read_text()
    for text in ("(no context provided)", "(no decision recorded)", "(no consequences noted)"):
        assert text in empty


async def test_a_decision_needs_a_title_and_a_valid_scope(tools: Tools) -> None:
    assert "Title" in await tools.refused("context_record_decision", title="  ")
    assert "Invalid scope" in await tools.refused("context_record_decision", title="x", scope="y")
    assert not tools.folder.exists()


async def test_the_state_changes_in_parts(tools: Tools) -> None:
    first = await tools.call(
        "context_update_state", current_task="auth", blockers="API spec, Redis"
    )
    assert first == {"status": "ok", "current_task": "auth", "blockers": ["API spec", "Redis"]}
    kept = await tools.call("context_update_state", current_task="login")
    assert kept["blockers"] == ["API spec", "Redis"]
    cleared = await tools.call("context_update_state", blockers="")
    assert (cleared["current_task"], cleared["blockers"]) == ("login", [])
    state = json.loads((tools.folder / "state" / "active.json").read_text())
    assert state["last_agent"] == "mcp:mcp"
    assert set(state) == {
        "current_task", "blockers", "progress", "last_agent", "last_machine", "updated_at"
    }  # fmt: skip
    assert tools.repository.git("status", "--porcelain", "--", "*active.json") == ""


async def test_sessions(tools: Tools) -> None:
    answer = await tools.call(
        "context_append_session",
        agent="claude-code",
        summary="Set up the schema",
        knowledge_added="tech-stack, db-schema",
        decisions_added="3",
    )
    assert answer["status"] == "ok"
    UUID(answer["session_id"])
    await tools.call("context_append_session", summary="more")
    lines = (tools.folder / "history" / "sessions.ndjson").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert first["id"] == answer["session_id"]
    assert first["knowledge_added"] == ["tech-stack", "db-schema"]
    assert first["decisions_added"] == ["3"]
    assert second["agent"] == "mcp:mcp"
    assert set(first) == {
        "id", "agent", "user", "machine", "started", "ended", "summary", "knowledge_added",
        "decisions_added", "skills_used",
    }  # fmt: skip


@pytest.mark.parametrize("scope", ["private", "ephemeral"])
async def test_changing_a_scope_moves_the_entry(tools: Tools, scope: str) -> None:
    await tools.call("context_add_knowledge", key="Plan", content="text of the plan")
    before = await tools.call("context_get_scope", entry_type="knowledge", key="plan")
    assert before == {"key": "plan", "scope": "public"}
    moved = await tools.call("context_set_scope", entry_type="knowledge", key="plan", scope=scope)
    assert moved == {"status": "ok", "key": "plan", "scope": scope}
    assert not (tools.folder / "knowledge" / "plan.md").exists()
    for path in tools.folder.rglob("*"):
        assert path.is_dir() or b"plan" not in path.read_bytes().lower(), path
    assert await tools.call("context_get", dotpath="knowledge.plan") == "text of the plan"
    await tools.call("context_add_knowledge", key="plan", content="changed")  # keeps its scope
    assert not (tools.folder / "knowledge" / "plan.md").exists()
    back = await tools.call("context_set_scope", entry_type="knowledge", key="plan", scope="public")
    assert back["scope"] == "public"
    assert (tools.folder / "knowledge" / "plan.md").read_text() == "changed"


async def test_making_a_committed_entry_private_says_that_history_has_it(tools: Tools) -> None:
    await tools.call("context_add_convention", key="git", content="rule")
    pushed = await tools.call("context_sync_push")
    moved = await tools.call(
        "context_set_scope", entry_type="convention", key="git", scope="private"
    )
    assert "git history still has its text" in moved["note"]
    assert pushed["commit"] in moved["note"]
    await tools.call("context_sync_push")
    assert "git.md" not in tools.repository.git("ls-tree", "-r", "--name-only", "HEAD")


async def test_adding_a_committed_entry_as_private_says_that_history_has_it(tools: Tools) -> None:
    skill = {"name": "deploy", "description": "d", "instructions": "i"}
    await tools.call("context_add_knowledge", key="plan", content="public words")
    await tools.call("context_add_skill", **skill)
    pushed = await tools.call("context_sync_push")
    for scope in ("private", "ephemeral"):
        moved = await tools.call("context_add_knowledge", key="plan", content="own", scope=scope)
        assert f"history still has its text (commit {pushed['commit']}" in moved["note"]
        await tools.call("context_sync_push")  # the commit that removes it does not have it
    assert "history" in (await tools.call("context_add_skill", **skill, scope="private"))["note"]
    fresh = await tools.call("context_add_knowledge", key="new", content="own", scope="private")
    assert "note" not in fresh


async def test_scopes_of_decisions_and_skills(tools: Tools) -> None:
    await tools.call("context_record_decision", title="Keep quiet", scope="private")
    await tools.call("context_add_skill", name="s", description="d", instructions="i")
    assert not (tools.folder / "knowledge" / "decisions").exists()
    by_number = await tools.call("context_get_scope", entry_type="decision", key="1")
    by_title = await tools.call("context_get_scope", entry_type="decision", key="keep quiet")
    assert (by_number["scope"], by_title["scope"]) == ("private", "private")
    assert (await tools.call("context_get_scope", entry_type="skill", key="s"))["scope"] == "public"
    second = await tools.call("context_record_decision", title="Public one")
    assert second["id"] == 2


@pytest.mark.parametrize(
    ("entry_type", "key", "scope", "message"),
    [
        ("thing", "a", "public", "Invalid entry_type 'thing'. Use 'knowledge', 'decision', "
         "'convention', or 'skill'."),
        ("knowledge", "a", "weird", "Invalid scope 'weird'. Use public, private, or ephemeral."),
        ("knowledge", "a", "private", "Knowledge entry 'a' not found"),
        ("decision", "7", "private", "Decision '7' not found"),
        ("convention", "a", "private", "Convention 'a' not found"),
        ("skill", "a", "private", "Skill 'a' not found"),
    ],
)  # fmt: skip
async def test_wrong_scopes(
    tools: Tools, entry_type: str, key: str, scope: str, message: str
) -> None:
    arguments = {"entry_type": entry_type, "key": key}
    assert await tools.refused("context_set_scope", **arguments, scope=scope) == message
    if "scope '" not in message:
        assert await tools.refused("context_get_scope", **arguments) == message


async def test_a_public_entry_is_not_overwritten_by_a_private_one_of_its_key(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="a", content="mine", scope="private")
    (tools.folder / "knowledge").mkdir(parents=True)
    (tools.folder / "knowledge" / "a.md").write_text("the team's")
    assert await tools.call("context_get", dotpath="knowledge.a") == "mine"
    refused = await tools.refused(
        "context_set_scope", entry_type="knowledge", key="a", scope="public"
    )
    assert "exists too" in refused
    await tools.call("context_remove_knowledge", key="a")
    assert await tools.call("context_get", dotpath="knowledge.a") == "the team's"
