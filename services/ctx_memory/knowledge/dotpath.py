"""Values by dotted path: `knowledge.KEY`, `decisions.1`, `state.current_task`, …"""

from dataclasses import asdict
from typing import Any

from ctx_core.blocking import DISK
from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.board import (
    EMPTY_STATE,
    PREFERENCES,
    read_preferences,
    read_sessions,
    read_state,
    set_preference,
    update_state,
    words,
)
from ctx_memory.knowledge.decisions import RecordedDecision, all_decisions, find_decision
from ctx_memory.knowledge.documents import parse_skill
from ctx_memory.knowledge.entries import Added, add_entry
from ctx_memory.knowledge.entry import EntryType, entry_key
from ctx_memory.knowledge.manifest import read_manifest
from ctx_memory.knowledge.store import KnowledgeStore

ENTRIES = {"knowledge": EntryType.KNOWLEDGE, "conventions": EntryType.CONVENTION}


async def get_value(store: KnowledgeStore, dotpath: str) -> Any:
    """Return the value at a path; raises KnowledgeNotFound."""
    section, _, rest = dotpath.strip().partition(".")
    try:
        value = await _value(store, section, rest)
    except KnowledgeRefused:
        value = None
    if value is None:
        raise KnowledgeNotFound(f"No value at '{dotpath}'")
    return value


async def _value(store: KnowledgeStore, section: str, rest: str) -> Any:
    match section:
        case "knowledge" | "conventions":
            return await _entries(store, ENTRIES[section], rest)
        case "decisions":
            return await _decisions(store, rest)
        case "skills":
            return await _skills(store, rest)
        case "state":
            state = await read_state(store)
            return _at({**state["progress"], **state}, rest) if rest else state
        case "preferences":
            values = {whose: await read_preferences(store, whose) for whose in PREFERENCES}
            return _at(values, rest)
        case "manifest":
            return _at(await DISK.run(read_manifest, store.project), rest)
        case "history":
            return (
                _at({"": await read_sessions(store)}, rest) if rest else await read_sessions(store)
            )
        case _:
            return None


def _at(value: Any, rest: str) -> Any:
    for part in rest.split(".") if rest else ():
        value = value.get(part) if isinstance(value, dict) else None
    return value


async def _entries(store: KnowledgeStore, entry_type: EntryType, rest: str) -> Any:
    if not rest:
        return {entry.key: entry.content for entry in await store.all(entry_type)}
    entry = await store.get(entry_type, entry_key(rest))
    return None if entry is None else entry.content


async def _skills(store: KnowledgeStore, rest: str) -> Any:
    if not rest:
        skills = await store.all(EntryType.SKILL)
        return {skill.key: parse_skill(skill.content).description for skill in skills}
    entry = await store.get(EntryType.SKILL, entry_key(rest))
    return None if entry is None else entry.content


async def _decisions(store: KnowledgeStore, rest: str) -> Any:
    if not rest:
        return [brief_decision(each) for each in await all_decisions(store)]
    head, _, tail = rest.rpartition(".")
    if head and tail in full_decision(await find_decision(store, head)):
        return full_decision(await find_decision(store, head))[tail]
    return full_decision(await find_decision(store, rest))


def brief_decision(recorded: RecordedDecision) -> dict[str, Any]:
    decision = recorded.decision
    return {"id": decision.number, "title": decision.title, "status": decision.status}


def full_decision(recorded: RecordedDecision) -> dict[str, Any]:
    fields = asdict(recorded.decision)
    return {"id": fields.pop("number"), **fields, "scope": recorded.entry.scope.value}


async def set_value(store: KnowledgeStore, dotpath: str, value: str, author: str) -> Added | None:
    """Set a value by its path; return the key used where it is an entry.

    Raises KnowledgeRefused where a path cannot be set.
    """
    section, _, rest = dotpath.strip().partition(".")
    match section:
        case "knowledge" | "conventions":
            if not rest:
                name = "knowledge" if section == "knowledge" else "convention"
                raise KnowledgeRefused(f"Specify a {name} key: {section}.<key>")
            return await add_entry(store, ENTRIES[section], rest, value, author=author)
        case "state":
            await _set_state(store, rest, value, author)
        case "preferences":
            whose, _, name = rest.partition(".")
            if not name:
                raise KnowledgeRefused("Specify preferences.team.<key> or preferences.user.<key>")
            await set_preference(store, whose, name, value)
        case _:
            raise KnowledgeRefused(f"Cannot set values in section '{section}'")
    return None


async def _set_state(store: KnowledgeStore, field: str, value: str, author: str) -> None:
    match field:
        case "":
            raise KnowledgeRefused("Specify a state field: state.<field>")
        case "current_task":
            await update_state(store, author, current_task=value)
        case "blockers":
            await update_state(store, author, blockers=words(value))
        case "last_agent" | "last_machine":
            await update_state(store, author, other={field: value})
        case _ if field in EMPTY_STATE:
            raise KnowledgeRefused(f"Cannot set state.{field}: it is kept by the server")
        case _:
            await update_state(store, author, other={field: value})
