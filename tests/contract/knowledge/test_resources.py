"""The fifteen resources, the four prompts and the server's instructions."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client

from ctx_core.engine.engine import open_engine
from ctx_core.serving.mcp.server import build
from ctx_core.serving.metrics import Metrics
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from tests.contract.knowledge.conftest import Tools
from tests.support.old_folder import write_old_folder
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

URIS = {
    "context://manifest", "context://knowledge", "context://conventions", "context://decisions",
    "context://state", "context://history", "context://summary", "context://skills",
    "context://skills/stats",
}  # fmt: skip
TEMPLATES = {
    "context://knowledge/{key}", "context://conventions/{key}", "context://decisions/{id}",
    "context://skills/{name}", "context://skills/{name}/feedback",
    "context://skills/{name}/proposals",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(area: Path) -> AsyncIterator[tuple[Tools, str]]:
    """A server whose project has a folder of another program; and what it says of it."""
    repository = Repository.create(area / "old-shop")
    write_old_folder(repository.root)
    settings = Settings(
        data_dir=area / "own-data", workspace=repository.root, knowledge_push_on_stop=False
    )
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as opened,
    ):
        server: Any = build(opened.service, settings, Metrics("memory", {}))
        async with Client(server) as connected:
            yield Tools(connected, repository), opened.service.about_project


@pytest.fixture
def tools(served: tuple[Tools, str]) -> Tools:
    return served[0]


async def read(tools: Tools, uri: str) -> Any:
    [content] = await tools.client.read_resource(uri)
    assert content.mime_type == "text/plain"
    return json.loads(content.text)  # type: ignore[union-attr]


async def prompt(tools: Tools, name: str) -> str:
    [message] = (await tools.client.get_prompt(name)).messages
    return str(message.content.text)  # type: ignore[union-attr]


async def test_all_are_listed_with_descriptions(tools: Tools) -> None:
    resources = await tools.client.list_resources()
    templates = await tools.client.list_resource_templates()
    prompts = await tools.client.list_prompts()
    assert {str(each.uri) for each in resources} == URIS
    assert {each.uri_template for each in templates} == TEMPLATES
    assert {each.name for each in prompts} == {
        "context_onboarding", "context_handoff", "context_review_decisions",
        "context_resolve_conflicts",
    }  # fmt: skip
    listed: list[Any] = [*resources, *templates, *prompts]
    assert all(each.description for each in listed)


async def test_every_resource_is_json(tools: Tools) -> None:
    for uri in URIS:
        assert await read(tools, uri)
    assert (await read(tools, "context://manifest"))["project"]["name"] == "Old Shop"
    assert (await read(tools, "context://state"))["current_task"] == "old task"
    assert [each["id"] for each in await read(tools, "context://decisions")] == [1, 2]
    assert (await read(tools, "context://history"))[0]["summary"] == "began"
    [deploy, _] = await read(tools, "context://skills/stats")
    assert (deploy["avg_rating"], deploy["needs_attention"]) == (2.5, True)


async def test_templates(tools: Tools) -> None:
    entry = await read(tools, "context://knowledge/architecture")
    assert entry["content"].startswith("# Architecture")
    assert (await read(tools, "context://conventions/git"))["scope"] == "public"
    assert (await read(tools, "context://decisions/1"))["title"] == "Use PostgreSQL"
    assert (await read(tools, "context://skills/deploy"))["description"] == "Ship it"
    feedback = await read(tools, "context://skills/deploy/feedback")
    assert [each["id"] for each in feedback if isinstance(each, dict)] == ["f1", "f2"]
    [proposal] = await read(tools, "context://skills/deploy/proposals")
    assert proposal["proposed_content"] == "new"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("context://knowledge/zz", "Knowledge entry 'zz' not found"),
        ("context://conventions/zz", "Convention 'zz' not found"),
        ("context://decisions/77", "Decision '77' not found"),
        ("context://skills/zz", "Skill 'zz' not found"),
        ("context://skills/zz/feedback", "Skill 'zz' not found"),
    ],
)
async def test_what_is_not_there_is_an_answer(tools: Tools, uri: str, message: str) -> None:
    assert await read(tools, uri) == {"error": message}


async def test_the_summary(tools: Tools) -> None:
    summary = await read(tools, "context://summary")
    assert summary["project"] == "Old Shop"
    assert summary["knowledge_count"] == 3
    assert summary["knowledge_keys"] == ["Mixed_Case", "architecture", "secret-plan"]
    assert (summary["decision_count"], summary["convention_keys"]) == (2, ["git"])
    assert summary["skill_names"] == ["Deploy", "hidden"]
    assert (summary["current_task"], summary["blockers"]) == ("old task", ["b"])
    assert summary["recent_sessions"][0]["id"] == "s1"


async def test_onboarding_has_public_entries_in_order(tools: Tools) -> None:
    text = await prompt(tools, "context_onboarding")
    heads = [line for line in text.split("\n") if line.startswith(("# ", "## "))]
    wanted = [
        "# Project: Old Shop", "## Team Conventions", "## Knowledge Base",
        "## Architectural Decisions", "## Agent Skills", "## Current State", "## Recent Sessions",
    ]  # fmt: skip
    assert [head for head in heads if head in wanted] == wanted
    assert "Schema version: 0.4.0" in text
    assert "### ADR-0001: Use PostgreSQL (accepted)" in text
    assert "only on this machine" not in text
    assert "quiet" not in text


async def test_the_other_prompts(tools: Tools) -> None:
    handoff = await prompt(tools, "context_handoff")
    assert "old task" in handoff
    assert "began" in handoff
    review = await prompt(tools, "context_review_decisions")
    assert "PostgreSQL 16." in review
    assert await prompt(tools, "context_resolve_conflicts") == "No merge conflicts are pending."


async def test_long_texts_and_lists_are_cut_and_it_is_said(tools: Tools) -> None:
    for number in range(35):
        await tools.call("context_add_knowledge", key=f"k{number:02}", content=f"{number} " * 1500)
    text = await prompt(tools, "context_onboarding")
    assert "... and 7 more" in text
    assert "... (truncated, see full entry via resource)" in text
    assert len(text) < 80_000
    whole = await read(tools, "context://knowledge/k01")
    assert len(whole["content"]) > 2500
    listed = await read(tools, "context://knowledge")
    assert all(len(each["content"]) < 2100 for each in listed)


async def test_the_instructions_name_the_project_in_two_lines(served: tuple[Tools, str]) -> None:
    first, second = served[1].split("\n")
    assert first == (
        "Project 'Old Shop': 3 knowledge entries (Mixed_Case, architecture, secret-plan), "
        "1 conventions (git), 2 decisions, 2 skills (Deploy, hidden)."
    )
    assert second.startswith("Current task: old task. Blockers: b. Skills to review: Deploy.")
