"""Knowledge as MCP resources: JSON texts under `context://`."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ctx_core.blocking import DISK
from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_core.serving.service import Resource
from ctx_memory.knowledge.board import read_sessions, read_state
from ctx_memory.knowledge.decisions import all_decisions, find_decision
from ctx_memory.knowledge.documents import parse_skill
from ctx_memory.knowledge.dotpath import brief_decision, full_decision
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, entry_key
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.manifest import read_manifest
from ctx_memory.knowledge.public import FEEDBACK, PROPOSALS
from ctx_memory.knowledge.skills import find_skill, skill_statistics
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.tools.arguments import TOOLSET

MAX_TEXT = 2000  # characters of one entry
MAX_SHOWN = 100  # entries of a list resource
MAX_SESSIONS = 50
MAX_KNOWLEDGE, MAX_DECISIONS, MAX_CONVENTIONS, MAX_SKILLS = 30, 20, 20, 30  # of a prompt
CUT = "... (truncated, see full entry via resource)"


def shortened(text: str, length: int = MAX_TEXT) -> str:
    """Cut a text, saying where the rest is."""
    return text if len(text) <= length else f"{text[:length].rstrip()}\n{CUT}"


def capped(items: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Cut a list; its last item then says how many are missing."""
    if len(items) <= most:
        return list(items)
    return [*items[:most], {"more": len(items) - most, "note": more(len(items) - most)}]


def more(count: int) -> str:
    return f"... and {count} more"


RECENT_SESSIONS = 5


def knowledge_resources(knowledge: Knowledge) -> Sequence[Resource]:
    """Return the fifteen resources; they show the project of the session or the server."""

    async def store() -> KnowledgeStore:
        return (await knowledge.open()).store

    return [*_lists(store), *_templates(store)]


Store = Callable[[], Awaitable[KnowledgeStore]]


def _lists(store: Store) -> Sequence[Resource]:
    async def manifest() -> str:
        """The project's name, id and team."""
        return _json(await DISK.run(read_manifest, (await store()).project))

    async def knowledge() -> str:
        """All knowledge entries; long ones are cut."""
        return _json(_texts(await (await store()).all(EntryType.KNOWLEDGE)))

    async def conventions() -> str:
        """All team conventions."""
        return _json(_texts(await (await store()).all(EntryType.CONVENTION)))

    async def decisions() -> str:
        """All decisions: number, title, status, date."""
        found = await all_decisions(await store())
        listed = [{**brief_decision(each), "date": each.decision.date} for each in found]
        return _json(capped(listed, MAX_SHOWN))

    async def state() -> str:
        """What is being worked on, and what blocks it."""
        return _json(await read_state(await store()))

    async def history() -> str:
        """The latest working sessions, the newest first."""
        return _json(capped((await read_sessions(await store()))[::-1], MAX_SESSIONS))

    async def summary() -> str:
        """The project at a glance: counts, keys, current task, recent sessions."""
        return _json(await summarise(await store()))

    async def skills() -> str:
        """All skills: name, description, scope."""
        found = await (await store()).all(EntryType.SKILL)
        return _json(capped([_listed_skill(skill) for skill in found], MAX_SHOWN))

    async def skill_stats() -> str:
        """Use and ratings of all skills."""
        found = await (await store()).all(EntryType.SKILL)
        return _json(capped([skill_statistics(skill) for skill in found], MAX_SHOWN))

    return [
        Resource("context://manifest", manifest, "Manifest", TOOLSET),
        Resource("context://knowledge", knowledge, "Knowledge", TOOLSET),
        Resource("context://conventions", conventions, "Conventions", TOOLSET),
        Resource("context://decisions", decisions, "Decisions", TOOLSET),
        Resource("context://state", state, "State", TOOLSET),
        Resource("context://history", history, "Sessions", TOOLSET),
        Resource("context://summary", summary, "Summary", TOOLSET),
        Resource("context://skills", skills, "Skills", TOOLSET),
        Resource("context://skills/stats", skill_stats, "Skill statistics", TOOLSET),
    ]


def _templates(store: Store) -> Sequence[Resource]:
    async def knowledge_entry(key: str) -> str:
        """One knowledge entry in full."""
        return await _found(lambda: _entry(store, EntryType.KNOWLEDGE, key))

    async def convention(key: str) -> str:
        """One convention in full."""
        return await _found(lambda: _entry(store, EntryType.CONVENTION, key))

    async def decision(id: str) -> str:  # noqa: A002 - the name in the URI
        """One decision in full, by number or a part of its title."""

        async def read() -> Mapping[str, Any]:
            return full_decision(await find_decision(await store(), id))

        return await _found(read)

    async def skill(name: str) -> str:
        """One skill: its SKILL.md, use and ratings."""

        async def read() -> Mapping[str, Any]:
            entry = await find_skill(await store(), name)
            return {
                **_listed_skill(entry),
                "content": entry.content,
                "stats": skill_statistics(entry),
            }

        return await _found(read)

    async def skill_feedback(name: str) -> str:
        """The ratings of a skill."""

        async def read() -> Any:
            return (await find_skill(await store(), name)).events.get(FEEDBACK, [])

        return await _found(read)

    async def skill_proposals(name: str) -> str:
        """The proposed improvements of a skill, with their whole text."""

        async def read() -> Any:
            return list((await find_skill(await store(), name)).events.get(PROPOSALS, {}).values())

        return await _found(read)

    return [
        Resource("context://knowledge/{key}", knowledge_entry, "Knowledge entry", TOOLSET),
        Resource("context://conventions/{key}", convention, "Convention", TOOLSET),
        Resource("context://decisions/{id}", decision, "Decision", TOOLSET),
        Resource("context://skills/{name}", skill, "Skill", TOOLSET),
        Resource("context://skills/{name}/feedback", skill_feedback, "Skill feedback", TOOLSET),
        Resource("context://skills/{name}/proposals", skill_proposals, "Skill proposals", TOOLSET),
    ]


async def summarise(store: KnowledgeStore) -> dict[str, Any]:
    """Return counts, keys, the current task and recent sessions."""
    manifest = await DISK.run(read_manifest, store.project)
    entries = {kind: await store.all(kind) for kind in EntryType}
    decisions = await all_decisions(store)
    state = await read_state(store)
    sessions = await read_sessions(store)
    skills = [parse_skill(skill.content).name or skill.key for skill in entries[EntryType.SKILL]]
    knowledge = [entry.key for entry in entries[EntryType.KNOWLEDGE]]
    conventions = [entry.key for entry in entries[EntryType.CONVENTION]]
    return {
        "project": manifest.get("project", {}).get("name") or store.project.name,
        "schema_version": manifest.get("schema_version", ""),
        "knowledge_count": len(knowledge),
        "knowledge_keys": knowledge,
        "decision_count": len(decisions),
        "decisions": [brief_decision(each) for each in decisions],
        "convention_count": len(conventions),
        "convention_keys": conventions,
        "skill_count": len(skills),
        "skill_names": skills,
        "current_task": state["current_task"],
        "blockers": state["blockers"],
        "recent_sessions": sessions[::-1][:RECENT_SESSIONS],
    }


async def _entry(store: Store, entry_type: EntryType, key: str) -> Mapping[str, Any]:
    entry = await (await store()).get(entry_type, entry_key(key))
    if entry is None:
        raise KnowledgeNotFound(f"{entry_type.label} '{key}' not found")
    return _text(entry)


async def _found(read: Callable[[], Awaitable[Any]]) -> str:
    """A value as JSON; a missing entry is an answer too, no error of the protocol."""
    try:
        return _json(await read())
    except KnowledgeRefused as error:
        return _json({"error": error.message})


def _texts(entries: Sequence[KnowledgeEntry]) -> list[Mapping[str, Any]]:
    shown = [{**_text(entry), "content": shortened(entry.content)} for entry in entries]
    return capped(shown, MAX_SHOWN)


def _text(entry: KnowledgeEntry) -> dict[str, Any]:
    return {
        "key": entry.key,
        "content": entry.content,
        "scope": entry.scope.value,
        "author": entry.author,
    }


def _listed_skill(entry: KnowledgeEntry) -> dict[str, Any]:
    skill = parse_skill(entry.content)
    name = skill.name or entry.key
    return {"name": name, "description": skill.description, "scope": entry.scope.value}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
