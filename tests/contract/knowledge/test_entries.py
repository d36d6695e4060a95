"""The tools for knowledge, conventions and values by path, as their contract has them."""

import json

import pytest

from tests.contract.knowledge.conftest import Tools

pytestmark = pytest.mark.asyncio(loop_scope="module")

STACK = (
    "## Stack\n\n- Python 3.12\n- FastAPI\n- PostgreSQL 16 with pgvector, run by the platform team"
)


async def test_an_entry_is_a_readable_file(tools: Tools) -> None:
    answer = await tools.call(
        "context_add_knowledge", key="tech-stack", content=STACK, scope="public"
    )
    assert answer == {"status": "ok", "key": "tech-stack"}
    assert (tools.folder / "knowledge" / "tech-stack.md").read_text() == STACK
    meta = json.loads((tools.folder / "knowledge" / ".meta.json").read_text())
    assert meta == {"tech-stack.md": {"author": "mcp:mcp"}}
    assert await tools.call("context_get", dotpath="knowledge.tech-stack") == STACK


@pytest.mark.parametrize(
    ("given", "key"),
    [("Tech Stack!", "tech-stack"), ("../../etc/passwd", "etc-passwd"), (" A  b--c ", "a-b-c")],
)
async def test_keys_are_made_safe_and_named(tools: Tools, given: str, key: str) -> None:
    assert (await tools.call("context_add_knowledge", key=given, content="x"))["key"] == key
    assert [path.name for path in tools.root.iterdir() if path.name != ".git"] == [
        ".context-teleport"
    ]
    assert (tools.folder / "knowledge" / f"{key}.md").read_text() == "x"
    assert await tools.call("context_get", dotpath=f"knowledge.{key}") == "x"


@pytest.mark.parametrize("key", ["", "  ", "..", "///", "!?"])
@pytest.mark.parametrize("tool", ["context_add_knowledge", "context_add_convention"])
async def test_an_empty_key_is_refused(tools: Tools, tool: str, key: str) -> None:
    assert await tools.refused(tool, key=key, content="x") == "Key cannot be empty"
    assert not tools.folder.exists()


async def test_an_existing_entry_is_replaced(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="a", content="one")
    await tools.call("context_add_knowledge", key="a", content="two")
    assert await tools.call("context_get", dotpath="knowledge") == {"a": "two"}


async def test_removing(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="a", content="one")
    assert await tools.call("context_remove_knowledge", key="A") == {
        "status": "removed",
        "key": "a",
    }
    assert await tools.call("context_remove_knowledge", key="a") == {
        "status": "not_found",
        "key": "a",
    }
    assert not (tools.folder / "knowledge" / "a.md").exists()


async def test_text_that_repeats_an_entry_is_answered_with_its_key(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="stack", content=STACK)
    again = await tools.call(
        "context_add_knowledge", key="technology", content=STACK.upper().replace("\n\n", "\n")
    )
    assert again["status"] == "ok"
    assert again["key"] == "stack"
    assert "not stored again" in again["note"]
    assert await tools.call("context_get", dotpath="knowledge") == {"stack": STACK}


async def test_short_texts_may_be_alike(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="a", content="To do.")
    await tools.call("context_add_knowledge", key="b", content="To do.")
    assert set(await tools.call("context_get", dotpath="knowledge")) == {"a", "b"}


@pytest.mark.parametrize("tool", ["context_add_knowledge", "context_add_convention"])
async def test_an_invalid_scope_is_an_error_and_never_public(tools: Tools, tool: str) -> None:
    message = await tools.refused(tool, key="a", content="x", scope="secret")
    assert message == "Invalid scope 'secret'. Use public, private, or ephemeral."
    assert not tools.folder.exists()


async def test_text_that_looks_like_a_secret_is_refused(tools: Tools) -> None:
    text = "Deploys with\nAWS key AKIAQ3EGRZ7WX2V5KLMN\n"
    message = await tools.refused("context_add_knowledge", key="deploy", content=text)
    assert "line 2 looks like a secret (" in message
    assert "AKIA" not in message
    assert not tools.folder.exists()
    done = await tools.call("context_add_knowledge", key="deploy", content=text, scope="private")
    assert done["status"] == "ok"
    assert "looks like" in await tools.refused(
        "context_set_scope", entry_type="knowledge", key="deploy", scope="public"
    )


async def test_conventions(tools: Tools) -> None:
    rule = "Always use feature branches."
    assert await tools.call("context_list_conventions") == []
    added = await tools.call("context_add_convention", key="Git", content=rule, scope="public")
    assert added == {"status": "ok", "key": "git"}
    assert (tools.folder / "conventions" / "git.md").read_text() == rule
    assert await tools.call("context_get_convention", key="git") == {"key": "git", "content": rule}
    assert await tools.call("context_list_conventions") == [
        {"key": "git", "content": rule, "scope": "public"}
    ]
    missing = await tools.refused("context_get_convention", key="nonexistent")
    assert missing == "Convention 'nonexistent' not found"
    assert await tools.call("context_rm_convention", key="git") == {
        "status": "removed",
        "key": "git",
    }
    assert (await tools.call("context_rm_convention", key="git"))["status"] == "not_found"


async def test_values_by_path(tools: Tools) -> None:
    await tools.call("context_add_knowledge", key="a", content="text of a")
    await tools.call("context_add_convention", key="git", content="rule")
    await tools.call("context_record_decision", title="Use PostgreSQL", decision="Version 16")
    await tools.call("context_append_session", summary="did things")
    expected = {
        "knowledge": {"a": "text of a"},
        "knowledge.a": "text of a",
        "conventions": {"git": "rule"},
        "conventions.git": "rule",
        "decisions": [{"id": 1, "title": "Use PostgreSQL", "status": "accepted"}],
        "decisions.1.status": "accepted",
        "decisions.use-postgresql.decision": "Version 16",
        "manifest.project.name": "shop",
        "manifest.schema_version": "0.4.0",
        "preferences": {"team": {}, "user": {}},
        "preferences.team": {},
        "state.current_task": "",
        "state.blockers": [],
    }
    for path, value in expected.items():
        assert await tools.call("context_get", dotpath=path) == value, path
    assert (await tools.call("context_get", dotpath="decisions.1"))["title"] == "Use PostgreSQL"
    [session] = await tools.call("context_get", dotpath="history")
    assert session["summary"] == "did things"
    for path in ("nope", "knowledge.zz", "decisions.9", "manifest.a.b", "state.zz", "", "a.b.c"):
        assert await tools.refused("context_get", dotpath=path) == f"No value at '{path}'"


async def test_setting_values_by_path(tools: Tools) -> None:
    paths = {
        "knowledge.a": "text",
        "conventions.git": "rule",
        "state.current_task": "auth",
        "state.step": "3 of 4",
        "preferences.team.tone": "plain",
        "preferences.user.editor": "vi",
    }
    for path, value in paths.items():
        answer = await tools.call("context_set", dotpath=path, value=value)
        assert answer == {"status": "ok", "dotpath": path}
        assert await tools.call("context_get", dotpath=path) == value
    await tools.call("context_set", dotpath="state.blockers", value="a, b")
    assert await tools.call("context_get", dotpath="state.blockers") == ["a", "b"]
    assert json.loads((tools.folder / "preferences/team.json").read_text()) == {
        "values": {"tone": "plain"}
    }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("knowledge", "Specify a knowledge key: knowledge.<key>"),
        ("state", "Specify a state field: state.<field>"),
        ("manifest.project.name", "Cannot set values in section 'manifest'"),
        ("decisions.1", "Cannot set values in section 'decisions'"),
        ("other", "Cannot set values in section 'other'"),
    ],
)
async def test_paths_that_cannot_be_set(tools: Tools, path: str, message: str) -> None:
    assert await tools.refused("context_set", dotpath=path, value="x") == message


async def test_a_project_outside_the_allowed_folders_is_refused(tools: Tools) -> None:
    message = await tools.refused("context_get", dotpath="state", project="/etc")
    assert "outside" in message or "Not inside a project" in message
    assert "is not a folder" in await tools.refused(
        "context_get", dotpath="state", project=str(tools.root / "missing")
    )


async def test_reading_creates_nothing(tools: Tools) -> None:
    for path in ("knowledge", "decisions", "state", "manifest", "history", "preferences"):
        await tools.call("context_get", dotpath=path)
    assert await tools.call("context_search", query="anything") == []
    assert await tools.call("context_sync_push") == {"status": "nothing_to_push"}
    assert (await tools.call("context_sync_pull"))["status"] == "no_remote"
    assert not tools.folder.exists()
    assert tools.repository.git("status", "--porcelain") == ""


async def test_set_names_the_key_used_and_an_entry_with_the_same_text(tools: Tools) -> None:
    text = "Two servers over one engine, each with ports of its own."
    stored = await tools.call("context_set", dotpath="knowledge.Tech Stack!", value=text)
    assert stored == {"status": "ok", "dotpath": "knowledge.Tech Stack!", "key": "tech-stack"}
    again = await tools.call("context_set", dotpath="knowledge.other", value=text)
    assert again["key"] == "tech-stack"
    assert "not stored again" in again["note"]


async def test_an_argument_that_is_none_is_refused_by_tools_that_write(tools: Tools) -> None:
    given = {"key": "hidden", "content": "for me alone", "visibility": "private"}
    assert "visibility" in await tools.refused("context_add_knowledge", **given)
    assert not tools.folder.exists()
