"""Tools for decisions, the state of the work, sessions and scopes."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.errors import KnowledgeNotFound
from ctx_core.serving.service import Effect, Tool
from ctx_memory.knowledge.board import append_session, update_state, words
from ctx_memory.knowledge.decisions import find_decision, record_decision
from ctx_memory.knowledge.documents import Decision
from ctx_memory.knowledge.entry import (
    EntryType,
    KnowledgeEntry,
    Scope,
    entry_key,
    parse_scope,
    parse_type,
    skill_folder,
)
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.tools.arguments import KeyResult, ProjectFolder, history_note, tool

EntryTypeName = Annotated[str, Field(description="knowledge, decision, convention or skill.")]
EntryName = Annotated[str, Field(description="Key, decision number or title, or skill name.")]


class DecisionResult(TypedDict):
    """The answer of `context_record_decision`."""

    status: str
    id: int
    title: str


class StateResult(TypedDict):
    """The answer of `context_update_state`: the state after it."""

    status: str
    current_task: str
    blockers: list[str]


class SessionAdded(TypedDict):
    """The answer of `context_append_session`."""

    status: str
    session_id: str


class ScopeResult(TypedDict):
    """The answer of `context_get_scope`."""

    key: str
    scope: str


def record_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return the tools for decisions, state, sessions and scopes."""
    return [*_work_tools(knowledge), *_scope_tools(knowledge)]


def _work_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_record_decision(
        title: Annotated[str, Field(description="The decision in a few words.")],
        context: Annotated[str, Field(description="Why it was needed.")] = "",
        decision: Annotated[str, Field(description="What was decided.")] = "",
        consequences: Annotated[str, Field(description="What follows from it.")] = "",
        scope: Annotated[str, Field(description="public (default), private or ephemeral.")] = "",
        project: ProjectFolder = None,
    ) -> DecisionResult:
        """Record an architectural decision under the next number."""
        store = (await knowledge.open(project)).store
        made = Decision(
            0,
            title,
            author=knowledge.author(),
            context=context,
            decision=decision,
            consequences=consequences,
        )
        recorded = await record_decision(
            store, made, parse_scope(scope) if scope.strip() else Scope.PUBLIC
        )
        done = recorded.decision
        return {"status": "ok", "id": done.number, "title": done.title}

    async def context_update_state(
        current_task: Annotated[str, Field(description="What you work on; empty keeps it.")] = "",
        blockers: Annotated[
            str | None,
            Field(description="Comma-separated; left out keeps them, empty clears them."),
        ] = None,
        project: ProjectFolder = None,
    ) -> StateResult:
        """Update the state of the work on this machine. What is left out stays."""
        store = (await knowledge.open(project)).store
        state = await update_state(
            store,
            knowledge.author(),
            current_task or None,
            None if blockers is None else words(blockers),
        )
        return {
            "status": "ok",
            "current_task": state["current_task"],
            "blockers": state["blockers"],
        }

    async def context_append_session(
        agent: Annotated[str, Field(description="Who worked; by default the caller.")] = "",
        summary: Annotated[str, Field(description="What was done, in a few sentences.")] = "",
        knowledge_added: Annotated[str, Field(description="Keys, comma-separated.")] = "",
        decisions_added: Annotated[str, Field(description="Numbers, comma-separated.")] = "",
        project: ProjectFolder = None,
    ) -> SessionAdded:
        """Add a summary of a working session to the project's shared history."""
        session = await append_session(
            (await knowledge.open(project)).store,
            agent or knowledge.author(),
            summary,
            words(knowledge_added),
            words(decisions_added),
        )
        return {"status": "ok", "session_id": session}

    return [
        tool(context_record_decision, "Record a decision", Effect.ADDS),
        tool(context_update_state, "Update the state", Effect.SETS),
        tool(context_append_session, "Append a session", Effect.ADDS),
    ]


def _scope_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_get_scope(
        entry_type: EntryTypeName, key: EntryName, project: ProjectFolder = None
    ) -> ScopeResult:
        """Tell who sees an entry."""
        store = (await knowledge.open(project)).store
        entry = await _find(store, parse_type(entry_type), key)
        return {"key": _shown(entry, key), "scope": entry.scope.value}

    async def context_set_scope(
        entry_type: EntryTypeName,
        key: EntryName,
        scope: Annotated[str, Field(description="public, private or ephemeral.")],
        project: ProjectFolder = None,
    ) -> KeyResult:
        """Move an entry between what is shared by git and what stays on this machine.

        `private` stays with this user, `ephemeral` ends with this run of the server.
        """
        store = (await knowledge.open(project)).store
        kind, wanted = parse_type(entry_type), parse_scope(scope)
        entry = await _find(store, kind, key)
        await store.set_scope(kind, entry.key, wanted)
        answer: KeyResult = {"status": "ok", "key": _shown(entry, key), "scope": wanted.value}
        if note := await history_note(store, kind, entry.key, wanted.value):
            answer["note"] = note
        return answer

    return [
        tool(context_get_scope, "Get a scope", Effect.READS),
        tool(context_set_scope, "Set a scope", Effect.SETS),
    ]


async def _find(store: KnowledgeStore, entry_type: EntryType, key: str) -> KnowledgeEntry:
    if entry_type is EntryType.DECISION:
        return (await find_decision(store, key)).entry
    name = skill_folder(key) if entry_type is EntryType.SKILL else entry_key(key)
    entry = await store.get(entry_type, name)
    if entry is None:
        raise KnowledgeNotFound(f"{entry_type.label} '{key}' not found")
    return entry


def _shown(entry: KnowledgeEntry, given: str) -> str:
    return given if entry.type in (EntryType.DECISION, EntryType.SKILL) else entry.key
