"""Skills: instructions for agents, with their use, ratings and proposed improvements."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.documents import parse_skill, render_skill
from ctx_memory.knowledge.entries import put_entry
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope, parse_scope, skill_folder
from ctx_memory.knowledge.manifest import now
from ctx_memory.knowledge.public import FEEDBACK, PROPOSALS, USAGE
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret

RATINGS = range(1, 6)
PROPOSAL_STATUSES = ("pending", "accepted", "rejected", "upstream")
ATTENTION_BELOW, ATTENTION_RATINGS = 3.0, 2  # the average and the number that flag a skill
DIFF_LENGTH = 1500  # characters of a proposal's diff that are kept
Event = dict[str, Any]


async def add_skill(
    store: KnowledgeStore,
    name: str,
    description: str,
    instructions: str,
    scope: str = "",
    agent: str = "",
) -> str:
    """Write a skill's text; return its folder. Its feedback and proposals stay."""
    folder = skill_folder(name)
    wanted = parse_scope(scope) if scope.strip() else None

    async def work() -> None:
        existing = await store.get(EntryType.SKILL, folder)
        target = wanted or (existing.scope if existing else Scope.PUBLIC)
        text = render_skill(name.strip(), description, instructions)
        await put_entry(store, KnowledgeEntry(EntryType.SKILL, folder, text, target, agent))

    await store.write(work)
    return folder


async def find_skill(store: KnowledgeStore, name: str) -> KnowledgeEntry:
    """Return a skill; raises KnowledgeNotFound."""
    entry = await store.get(EntryType.SKILL, skill_folder(name))
    if entry is None:
        raise KnowledgeNotFound(f"Skill '{name}' not found")
    return entry


async def report_usage(store: KnowledgeStore, name: str, agent: str) -> str:
    """Note that a skill was used; return the id of the event."""
    event = {"id": str(uuid4()), "agent": agent, "timestamp": now()}
    await _append(store, name, USAGE, event)
    return event["id"]


async def rate_skill(
    store: KnowledgeStore, name: str, rating: int, comment: str, agent: str
) -> str:
    """Keep a rating from 1 to 5; return its id."""
    if rating not in RATINGS:
        raise KnowledgeRefused(f"Rating must be 1-5, got {rating}")
    event: Event = {
        "id": str(uuid4()),
        "agent": agent,
        "rating": rating,
        "comment": comment,
        "timestamp": now(),
    }
    await _append(store, name, FEEDBACK, event)
    return str(event["id"])


async def _append(store: KnowledgeStore, name: str, events: str, event: Event) -> None:
    async def work() -> None:
        entry = await find_skill(store, name)
        _refuse_secrets(entry, event)
        await _save(store, entry, {events: [*entry.events.get(events, []), event]})

    await store.write(work)


# --- proposals -----------------------------------------------------------------------------


async def propose_improvement(
    store: KnowledgeStore, name: str, content: str, rationale: str, agent: str
) -> Event:
    """Keep a proposed new text of a skill until somebody accepts or rejects it.

    Raises KnowledgeRefused where the text names the skill by a path.
    """
    _refuse_path(content)

    async def work() -> Event:
        entry = await find_skill(store, name)
        proposal: Event = {
            "id": str(uuid4()),
            "skill_name": parse_skill(entry.content).name or entry.key,
            "agent": agent,
            "rationale": rationale,
            "proposed_content": content,
            "diff_summary": _diff_summary(entry.content, content),
            "status": "pending",
            "created_at": now(),
            "resolved_at": None,
        }
        _refuse_secrets(entry, proposal)
        known = entry.events.get(PROPOSALS, {})
        await _save(store, entry, {PROPOSALS: {**known, proposal["id"]: proposal}})
        return proposal

    return await store.write(work)


async def list_proposals(store: KnowledgeStore, name: str = "", status: str = "") -> list[Event]:
    """Return proposals, the oldest first; raises KnowledgeRefused for an unknown status."""
    if status and status not in PROPOSAL_STATUSES:
        raise KnowledgeRefused(f"Invalid status '{status}'")
    skills = [await find_skill(store, name)] if name else await store.all(EntryType.SKILL)
    found = [each for skill in skills for each in skill.events.get(PROPOSALS, {}).values()]
    chosen = [each for each in found if not status or each.get("status") == status]
    return sorted(chosen, key=lambda each: str(each.get("created_at", "")))


async def resolve_proposal(store: KnowledgeStore, proposal_id: str, status: str) -> Event:
    """Accept or reject a pending proposal; an accepted one becomes the skill's text."""

    async def work() -> Event:
        for entry in await store.all(EntryType.SKILL):
            proposals = entry.events.get(PROPOSALS, {})
            matches = [key for key in proposals if key == proposal_id or _starts(key, proposal_id)]
            if len(matches) != 1:
                continue
            known = proposals[matches[0]]
            if known.get("status") != "pending":
                raise KnowledgeRefused(f"Proposal is {known.get('status')} already")
            if status == "accepted":
                _refuse_path(str(known["proposed_content"]))
            done = {**known, "status": status, "resolved_at": now()}
            text = str(known["proposed_content"]) if status == "accepted" else entry.content
            changed = replace(entry, content=text)
            await _save(store, changed, {PROPOSALS: {**proposals, matches[0]: done}})
            return done
        raise KnowledgeNotFound(f"Proposal '{proposal_id}' not found")

    return await store.write(work)


def _refuse_path(content: str) -> None:
    if name := parse_skill(content).name:
        skill_folder(name)


def _starts(key: str, given: str) -> bool:
    return len(given) >= 6 and key.startswith(given)


def _diff_summary(before: str, after: str) -> str:
    """How many lines come and go, then the difference itself."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[
        2:
    ]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return "\n".join([f"+{added}/-{removed} lines", *lines])[:DIFF_LENGTH]


# --- statistics ----------------------------------------------------------------------------


def skill_statistics(entry: KnowledgeEntry) -> Event:
    """Count the uses and ratings of a skill."""
    usage = [event for event in entry.events.get(USAGE, []) if isinstance(event, dict)]
    ratings = [
        event["rating"]
        for event in entry.events.get(FEEDBACK, [])
        if isinstance(event, dict) and isinstance(event.get("rating"), int | float)
    ]
    average = sum(ratings) / len(ratings) if ratings else None
    return {
        "skill_name": parse_skill(entry.content).name or entry.key,
        "usage_count": len(usage),
        "avg_rating": None if average is None else round(average, 2),
        "rating_count": len(ratings),
        "last_used": max((str(event.get("timestamp", "")) for event in usage), default=None),
        "needs_attention": average is not None
        and average < ATTENTION_BELOW
        and len(ratings) >= ATTENTION_RATINGS,
    }


def needing_attention(skills: Sequence[KnowledgeEntry]) -> list[str]:
    """Names of skills that are rated badly."""
    statistics = [skill_statistics(skill) for skill in skills]
    return [str(each["skill_name"]) for each in statistics if each["needs_attention"]]


async def _save(store: KnowledgeStore, entry: KnowledgeEntry, events: Mapping[str, Any]) -> None:
    await put_entry(store, replace(entry, events={**entry.events, **events}))


def _refuse_secrets(entry: KnowledgeEntry, event: Event) -> None:
    if entry.scope is Scope.PUBLIC:
        for value in event.values():
            refuse_secret(str(value))
