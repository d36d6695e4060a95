"""Tools for skills: add, remove, report use, rate, propose improvements."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.serving.service import Effect, Tool
from ctx_memory.knowledge.entry import EntryType, skill_folder
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.skills import (
    add_skill,
    list_proposals,
    propose_improvement,
    rate_skill,
    report_usage,
)
from ctx_memory.knowledge.tools.arguments import (
    NewScope,
    ProjectFolder,
    history_note,
    tool,
)

RATIONALE_LENGTH = 100  # in a list, as the contract has it; the resource has all of it
SkillName = Annotated[str, Field(description="Name of the skill, such as `deploy-staging`.")]


class NameResult(TypedDict):
    """The answer about a skill. `note` is a remark beyond the status."""

    status: str
    name: str
    note: NotRequired[str]


class UsageResult(TypedDict):
    """The answer of `context_report_skill_usage`."""

    status: str
    event_id: str


class FeedbackResult(TypedDict):
    """The answer of `context_rate_skill`."""

    status: str
    feedback_id: str


class ProposalResult(TypedDict):
    """The answer of `context_propose_skill_improvement`."""

    status: str
    proposal_id: str
    diff_summary: str


class ListedProposal(TypedDict):
    """A proposal without its text."""

    id: str
    skill_name: str
    agent: str
    status: str
    diff_summary: str
    rationale: str
    created_at: str


def skill_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return the tools for skills."""
    return [*_text_tools(knowledge), *_review_tools(knowledge)]


def _text_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_add_skill(
        name: SkillName,
        description: Annotated[str, Field(description="What the skill does, in one line.")],
        instructions: Annotated[str, Field(description="Markdown steps to follow.")],
        scope: NewScope = "",
        project: ProjectFolder = None,
    ) -> NameResult:
        """Add or replace a skill: instructions that agents follow for a recurring task."""
        store = (await knowledge.open(project)).store
        author = knowledge.author()
        folder = await add_skill(store, name, description, instructions, scope, author)
        answer: NameResult = {"status": "ok", "name": name}
        if note := await history_note(store, EntryType.SKILL, folder, scope):
            answer["note"] = note
        return answer

    async def context_remove_skill(name: SkillName, project: ProjectFolder = None) -> NameResult:
        """Remove a skill with its ratings and proposals."""
        store = (await knowledge.open(project)).store
        removed = await store.remove(EntryType.SKILL, skill_folder(name))
        return {"status": "removed" if removed else "not_found", "name": name}

    async def context_report_skill_usage(
        skill_name: SkillName, project: ProjectFolder = None
    ) -> UsageResult:
        """Record that a skill was used."""
        store = (await knowledge.open(project)).store
        event = await report_usage(store, skill_name, knowledge.author())
        return {"status": "ok", "event_id": event}

    return [
        tool(context_add_skill, "Add a skill", Effect.SETS),
        tool(context_remove_skill, "Remove a skill", Effect.DESTROYS),
        tool(context_report_skill_usage, "Report skill usage", Effect.ADDS),
    ]


def _review_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_rate_skill(
        skill_name: SkillName,
        rating: Annotated[int, Field(description="From 1 (poor) to 5 (excellent).")],
        comment: Annotated[str, Field(description="What was good or bad.")] = "",
        project: ProjectFolder = None,
    ) -> FeedbackResult:
        """Rate a skill. Two ratings or more with an average below 3 flag it for review."""
        store = (await knowledge.open(project)).store
        feedback = await rate_skill(store, skill_name, rating, comment, knowledge.author())
        return {"status": "ok", "feedback_id": feedback}

    async def context_propose_skill_improvement(
        skill_name: SkillName,
        proposed_content: Annotated[
            str, Field(description="The whole new SKILL.md, head and instructions.")
        ],
        rationale: Annotated[str, Field(description="Why it is better.")] = "",
        project: ProjectFolder = None,
    ) -> ProposalResult:
        """Propose a new text of a skill, which a person accepts or rejects on the command line."""
        store = (await knowledge.open(project)).store
        proposal = await propose_improvement(
            store, skill_name, proposed_content, rationale, knowledge.author()
        )
        return {
            "status": "ok",
            "proposal_id": proposal["id"],
            "diff_summary": proposal["diff_summary"],
        }

    async def context_list_skill_proposals(
        skill_name: Annotated[str, Field(description="Only of this skill.")] = "",
        status: Annotated[
            str, Field(description="Only pending, accepted, rejected or upstream.")
        ] = "",
        project: ProjectFolder = None,
    ) -> list[ListedProposal]:
        """List proposed improvements of skills."""
        store = (await knowledge.open(project)).store
        return [
            {
                "id": str(each.get("id", "")),
                "skill_name": str(each.get("skill_name", "")),
                "agent": str(each.get("agent", "")),
                "status": str(each.get("status", "")),
                "diff_summary": str(each.get("diff_summary", "")),
                "rationale": str(each.get("rationale", ""))[:RATIONALE_LENGTH],
                "created_at": str(each.get("created_at", "")),
            }
            for each in await list_proposals(store, skill_name, status)
        ]

    return [
        tool(context_rate_skill, "Rate a skill", Effect.ADDS),
        tool(context_propose_skill_improvement, "Propose a better skill", Effect.ADDS),
        tool(context_list_skill_proposals, "List skill proposals", Effect.READS),
    ]
