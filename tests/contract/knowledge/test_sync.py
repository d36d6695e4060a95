"""The tools for git and conflicts, as their contract has them: two clones, one server."""

import json
from pathlib import Path

import pytest

from tests.contract.knowledge.conftest import Tools
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

BASE = "intro\n\n## A\na\n\n## B\nb\n"
ARCH = ".context-teleport/knowledge/architecture.md"


async def add(tools: Tools, content: str, key: str = "architecture") -> None:
    await tools.call("context_add_knowledge", key=key, content=content)


async def diverge(one: Tools, two: Tools, of_one: str, of_two: str) -> None:
    await add(one, BASE)
    assert (await one.call("context_sync_push"))["status"] == "pushed"
    assert (await two.call("context_sync_pull"))["status"] == "pulled"
    await add(one, of_one)
    await one.call("context_sync_push", message="changed by one")
    await add(two, of_two)


async def test_push_and_pull(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    await add(one, BASE)
    pushed = await one.call("context_sync_push", message="first knowledge")
    head = one.repository.git("rev-parse", "--short=7", "HEAD")
    assert pushed == {"status": "pushed", "commit": head, "commit_message": "first knowledge"}
    pulled = await two.call("context_sync_pull")
    assert pulled == {"status": "pulled", "commit": head, "commits": 1}
    assert await two.call("context_sync_pull") == {"status": "up_to_date"}
    assert await two.call("context_sync_push") == {"status": "nothing_to_push"}


async def test_sections_are_merged(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    await diverge(one, two, BASE.replace("\na\n", "\none\n"), BASE.replace("\nb\n", "\ntwo\n"))
    merged = await two.call("context_sync_pull")
    assert (merged["status"], merged["strategy"]) == ("merged", "section-auto")
    assert merged["auto_resolved"] == [ARCH]
    text = await two.call("context_get", dotpath="knowledge.architecture")
    assert text == "intro\n\n## A\none\n\n## B\ntwo\n"


async def test_strategies(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    await diverge(one, two, BASE.replace("\na\n", "\none\n"), BASE.replace("\na\n", "\ntwo\n"))
    wrong = await two.refused("context_sync_pull", strategy="mine")
    assert wrong == "Invalid strategy 'mine'. Use: ours, theirs, agent."
    rejected = await two.call("context_sync_push")
    assert rejected["status"] == "rejected"
    assert "context_sync_pull" in rejected["push_error"]
    merged = await two.call("context_sync_pull", strategy="theirs")
    assert (merged["status"], merged["strategy"], merged["resolved"]) == ("merged", "theirs", 1)
    assert "one" in await two.call("context_get", dotpath="knowledge.architecture")


async def test_an_agent_resolves_a_conflict(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    await diverge(one, two, BASE.replace("\na\n", "\none\n"), BASE.replace("\na\n", "\ntwo\n"))
    assert await two.call("context_merge_status") == {"status": "clean"}
    conflicts = await two.call("context_sync_pull", strategy="agent")
    assert conflicts["status"] == "conflicts"
    assert conflicts["files"] == [ARCH]
    status = await two.call("context_merge_status")
    assert status["conflict_id"] == conflicts["conflict_id"]
    assert status["report"]["conflicts"][0]["file_path"] == ARCH
    detail = await two.call("context_conflict_detail", file_path=ARCH)
    assert set(detail) >= {
        "file_path", "ours_content", "theirs_content", "base_content", "diff", "section_analysis"
    }  # fmt: skip
    resolved = await two.call(
        "context_resolve_conflict", file_path=ARCH, content=BASE.replace("\na\n", "\nboth\n")
    )
    assert resolved == {"status": "resolved", "file_path": ARCH, "remaining": 0}
    done = await two.call("context_merge_finalize")
    assert (done["status"], done["resolved"], done["skipped"]) == ("merged", 1, 0)
    assert done["commit"] == two.repository.git("rev-parse", "--short=7", "HEAD")
    assert (await two.call("context_sync_push"))["status"] == "pushed"
    await one.call("context_sync_pull")
    assert "both" in await one.call("context_get", dotpath="knowledge.architecture")


async def test_aborting(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    await diverge(one, two, BASE.replace("\na\n", "\none\n"), BASE.replace("\na\n", "\ntwo\n"))
    await two.call("context_sync_pull", strategy="interactive")
    pending = two.folder / ".pending_conflicts.json"
    assert json.loads(pending.read_text())["files"][0]["path"] == "knowledge/architecture.md"
    assert await two.call("context_merge_abort") == {"status": "aborted"}
    assert not pending.exists()
    assert await two.refused("context_merge_abort") == "No pending conflicts to abort"
    assert await two.refused("context_merge_finalize") == "No pending conflicts to finalize"
    assert await two.refused("context_conflict_detail", file_path=ARCH) == "No pending conflicts"
    refused = await two.refused("context_resolve_conflict", file_path=ARCH, content="x")
    assert refused == "No pending conflicts"


async def test_decisions_of_one_number_are_renumbered_and_it_is_said(
    clones: tuple[Tools, Tools],
) -> None:
    one, two = clones
    await one.call("context_record_decision", title="Of one")
    await two.call("context_record_decision", title="Of two")
    await two.call("context_record_decision", title="Quiet", scope="private")
    await one.call("context_sync_push")
    pushed = await two.call("context_sync_push")
    assert pushed["renumbered"] == [{"from": "0001-of-two.md", "to": "0002-of-two.md"}]
    assert pushed["renumbered_private"] == [{"from": "0002-quiet", "to": "0003-quiet"}]
    pulled = await two.call("context_sync_pull")
    assert pulled["status"] == "up_to_date"
    decisions = await two.call("context_get", dotpath="decisions")
    assert [(each["id"], each["title"]) for each in decisions][:2] == [(1, "Of one"), (2, "Of two")]
    assert {each["title"] for each in decisions} == {"Of one", "Of two", "Quiet"}
    assert len({each["id"] for each in decisions}) == 3


async def test_outside_a_repository_there_is_nothing_to_sync(tools: Tools, tmp_path: Path) -> None:
    plain = tools.root.parent / "plain"
    (plain / ".context-teleport").mkdir(parents=True)
    outside = Tools(tools.client, Repository(plain))
    await add(outside, "text")
    assert await outside.refused("context_sync_push") == "Not inside a git repository"
    assert await outside.call("context_get", dotpath="knowledge.architecture") == "text"
