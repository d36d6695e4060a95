"""`ctx knowledge skill`: skills, their ratings, and what agents propose to improve."""

from collections.abc import Mapping
from typing import Any

import click

from ctx.cli import Group, define_command
from ctx.commands.memory.knowledge.entries import value_text
from ctx.knowledge import Body, KnowledgeClient, run_with_knowledge
from ctx.output import show

STATUSES = ("pending", "accepted", "rejected", "upstream")
SHORT_ID = 8  # characters of a proposal's id that a list shows; as many name it


@define_command(
    "list",
    "List all skills with their use and ratings.",
    examples=["ctx knowledge skill list", "ctx knowledge skill list --json"],
)
def list_skills(as_json: bool) -> int:
    """List skills with statistics."""

    async def work(client: KnowledgeClient) -> Body:
        return {"skills": await _statistics(client)}

    show(run_with_knowledge(work), _list_text, as_json=as_json)
    return 0


async def _statistics(client: KnowledgeClient) -> list[Body]:
    from ctx_memory.knowledge.documents import parse_skill
    from ctx_memory.knowledge.entry import EntryType
    from ctx_memory.knowledge.skills import skill_statistics

    store = (await client.open()).store
    return [
        {
            **skill_statistics(entry),
            "description": parse_skill(entry.content).description,
            "scope": entry.scope.value,
            "feedback": list(entry.events.get("feedback", [])),
        }
        for entry in await store.all(EntryType.SKILL)
    ]


def _list_text(body: Mapping[str, Any]) -> str:
    return "\n".join(_skill_line(each) for each in body["skills"]) or "No skills yet."


def _skill_line(skill: Mapping[str, Any]) -> str:
    rating = "no ratings"
    if skill["rating_count"]:
        rating = f"{skill['avg_rating']} of 5 by {skill['rating_count']}"
    flag = "  NEEDS ATTENTION" if skill["needs_attention"] else ""
    return f"{skill['skill_name']}  used {skill['usage_count']}×, {rating}{flag}"  # noqa: RUF001


@define_command(
    "show",
    "Print the SKILL.md of a skill.",
    no="there is none",
    examples=["ctx knowledge skill show deploy", "ctx knowledge skill show deploy --json"],
)
@click.argument("name")
def show_skill(name: str, as_json: bool) -> int:
    """Print one skill."""

    async def work(client: KnowledgeClient) -> Body:
        from ctx_memory.knowledge.skills import find_skill

        entry = await find_skill((await client.open()).store, name)
        return {"result": entry.content, "scope": entry.scope.value, "author": entry.author}

    show(run_with_knowledge(work), value_text, as_json=as_json)
    return 0


@define_command(
    "review",
    "Show skills that are rated below 3, with what was said about them.",
    examples=["ctx knowledge skill review", "ctx knowledge skill review --json"],
)
def review(as_json: bool) -> int:
    """List skills that need attention."""

    async def work(client: KnowledgeClient) -> Body:
        return {"skills": [each for each in await _statistics(client) if each["needs_attention"]]}

    show(run_with_knowledge(work), _review_text, as_json=as_json)
    return 0


def _review_text(body: Mapping[str, Any]) -> str:
    lines = []
    for skill in body["skills"]:
        lines.append(_skill_line(skill))
        for event in skill["feedback"]:
            lines.append(f"    {event.get('rating')}  {event.get('comment', '')}".rstrip())
    return "\n".join(lines) or "No skill needs attention."


@define_command(
    "proposals",
    "List proposed improvements, of one skill or of all.",
    examples=[
        "ctx knowledge skill proposals",
        "ctx knowledge skill proposals deploy --status pending --json",
    ],
)
@click.argument("name", default="")
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
def proposals(name: str, status: str | None, as_json: bool) -> int:
    """List proposals."""

    async def work(client: KnowledgeClient) -> Body:
        return await client.call(
            "context_list_skill_proposals", skill_name=name, status=status or ""
        )

    show(run_with_knowledge(work), _proposals_text, as_json=as_json)
    return 0


def _proposals_text(body: Mapping[str, Any]) -> str:
    lines = [
        f"{each['id'][:SHORT_ID]}  {each['status']:<8}  {each['skill_name']} by {each['agent']}: "
        f"{each['rationale']}\n{_indented(each['diff_summary'])}"
        for each in body["result"]
    ]
    return "\n".join(lines) or "No proposals."


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


@define_command(
    "apply-proposal",
    "Accept a proposal: its text becomes the skill's. ID is the one of the list, or its first "
    "characters.",
    no="there is none",
    examples=[
        "ctx knowledge skill apply-proposal 1f0c7a52",
        "ctx knowledge skill apply-proposal 1f0c7a52 --reject",
    ],
)
@click.argument("proposal_id", metavar="ID")
@click.option("--reject", is_flag=True, help="Reject it instead; the skill stays as it is.")
def apply_proposal(proposal_id: str, reject: bool, as_json: bool) -> int:
    """Accept or reject a proposal."""

    async def work(client: KnowledgeClient) -> Body:
        from ctx_memory.knowledge.skills import resolve_proposal

        store = (await client.open(to_write=True)).store
        return await resolve_proposal(store, proposal_id, "rejected" if reject else "accepted")

    body = run_with_knowledge(work)
    show(body, lambda done: f"{done['skill_name']}: {done['status']}", as_json=as_json)
    return 0


skills = Group(
    "skill",
    ["ctx knowledge skill list", "ctx knowledge skill review"],
    commands=[list_skills, show_skill, review, proposals, apply_proposal],
    help="Read skills, and decide what agents propose to improve in them.",
)
