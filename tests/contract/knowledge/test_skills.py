"""The tools for skills, as their contract has them."""

import json
from uuid import UUID

import pytest

from tests.contract.knowledge.conftest import Tools

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def add(tools: Tools, name: str = "run-tests", scope: str = "") -> None:
    answer = await tools.call(
        "context_add_skill",
        name=name,
        description="Execute the test suite",
        instructions="## Steps\n\n1. Run pytest",
        scope=scope,
    )
    assert answer == {"status": "ok", "name": name}


async def test_a_skill_is_a_folder_with_a_head(tools: Tools) -> None:
    await add(tools, "Run Tests")
    text = (tools.folder / "skills" / "run-tests" / "SKILL.md").read_text()
    assert text == (
        "---\nname: Run Tests\ndescription: Execute the test suite\n---\n\n"
        "## Steps\n\n1. Run pytest\n"
    )


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "a\\b", "/etc/x", ""])
async def test_names_that_are_paths_are_refused(tools: Tools, name: str) -> None:
    await tools.refused("context_add_skill", name=name, description="d", instructions="i")
    await tools.refused("context_report_skill_usage", skill_name=name)
    assert not tools.folder.exists()
    assert sorted(path.name for path in tools.root.iterdir()) == [".git"]


async def test_removing_a_skill(tools: Tools) -> None:
    await add(tools)
    await tools.call("context_report_skill_usage", skill_name="run-tests")
    removed = await tools.call("context_remove_skill", name="run-tests")
    assert removed == {"status": "removed", "name": "run-tests"}
    assert not (tools.folder / "skills" / "run-tests").exists()
    again = await tools.call("context_remove_skill", name="run-tests")
    assert again == {"status": "not_found", "name": "run-tests"}


async def test_usage_and_ratings_are_kept_beside_the_skill(tools: Tools) -> None:
    await add(tools)
    used = await tools.call("context_report_skill_usage", skill_name="run-tests")
    assert used["status"] == "ok"
    UUID(used["event_id"])
    rated = await tools.call("context_rate_skill", skill_name="run-tests", rating=2, comment="slow")
    UUID(rated["feedback_id"])
    folder = tools.folder / "skills" / "run-tests"
    [usage] = map(json.loads, (folder / ".usage.ndjson").read_text().splitlines())
    assert (usage["id"], usage["agent"]) == (used["event_id"], "mcp:mcp")
    [feedback] = map(json.loads, (folder / ".feedback.ndjson").read_text().splitlines())
    assert (feedback["rating"], feedback["comment"]) == (2, "slow")
    await add(tools)  # a new text keeps them
    assert (folder / ".usage.ndjson").exists()


async def test_what_is_wrong_with_a_skill(tools: Tools) -> None:
    missing = await tools.refused("context_report_skill_usage", skill_name="x")
    assert missing == "Skill 'x' not found"
    assert await tools.refused("context_rate_skill", skill_name="x", rating=3) == missing
    await add(tools)
    for rating in (0, 9, -1):
        wrong = await tools.refused("context_rate_skill", skill_name="run-tests", rating=rating)
        assert wrong == f"Rating must be 1-5, got {rating}"
    assert "not found" in await tools.refused(
        "context_propose_skill_improvement", skill_name="x", proposed_content="t"
    )


async def test_proposals(tools: Tools) -> None:
    await add(tools)
    new = (
        "---\nname: run-tests\ndescription: better\n---\n\n## Steps\n\n1. Run pytest -q\n2. Look\n"
    )
    rationale = "Because it is quicker. " * 10
    made = await tools.call(
        "context_propose_skill_improvement",
        skill_name="run-tests",
        proposed_content=new,
        rationale=rationale,
    )
    assert made["status"] == "ok"
    assert made["diff_summary"].startswith("+3/-2 lines\n@@ ")
    [listed] = await tools.call("context_list_skill_proposals")
    assert listed["id"] == made["proposal_id"]
    assert listed["rationale"] == rationale[:100]
    assert (listed["skill_name"], listed["status"]) == ("run-tests", "pending")
    assert set(listed) == {
        "id", "skill_name", "agent", "status", "diff_summary", "rationale", "created_at"
    }  # fmt: skip
    path = tools.folder / "skills/run-tests/.proposals" / f"{made['proposal_id']}.json"
    assert json.loads(path.read_text())["proposed_content"] == new
    by_status = await tools.call("context_list_skill_proposals", status="accepted")
    by_name = await tools.call("context_list_skill_proposals", skill_name="run-tests")
    assert (by_status, by_name) == ([], [listed])
    wrong = await tools.refused("context_list_skill_proposals", status="weird")
    assert wrong == "Invalid status 'weird'"


async def test_what_lies_beside_a_private_skill_is_private_too(tools: Tools) -> None:
    await add(tools, scope="private")
    await tools.call("context_report_skill_usage", skill_name="run-tests")
    await tools.call("context_rate_skill", skill_name="run-tests", rating=1, comment="hidden words")
    await tools.call(
        "context_propose_skill_improvement", skill_name="run-tests", proposed_content="hidden text"
    )
    assert not tools.folder.exists()
    assert len(await tools.call("context_list_skill_proposals")) == 1
    await tools.call("context_set_scope", entry_type="skill", key="run-tests", scope="public")
    folder = tools.folder / "skills" / "run-tests"
    assert "hidden words" in (folder / ".feedback.ndjson").read_text()
    await tools.call("context_set_scope", entry_type="skill", key="run-tests", scope="private")
    assert not folder.exists()
    assert len(await tools.call("context_list_skill_proposals")) == 1


@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", "/etc/x"])
async def test_proposals_that_name_a_path_are_refused(tools: Tools, name: str) -> None:
    await add(tools)
    text = f"---\nname: {name}\ndescription: d\n---\n\nRun it.\n"
    refused = await tools.refused(
        "context_propose_skill_improvement", skill_name="run-tests", proposed_content=text
    )
    assert "must not be a path" in refused
    assert await tools.call("context_list_skill_proposals") == []
