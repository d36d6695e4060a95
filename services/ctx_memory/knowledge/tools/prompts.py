"""Knowledge as MCP prompts, and in the server's instructions."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ctx_core.errors import CtxError
from ctx_core.serving.service import Prompt
from ctx_memory.knowledge.board import read_sessions, read_state
from ctx_memory.knowledge.decisions import RecordedDecision, all_decisions
from ctx_memory.knowledge.documents import parse_skill
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.skills import needing_attention
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.tools.arguments import TOOLSET
from ctx_memory.knowledge.tools.resources import (
    MAX_CONVENTIONS,
    MAX_DECISIONS,
    MAX_KNOWLEDGE,
    MAX_SKILLS,
    more,
    shortened,
    summarise,
)

ONBOARDING_SESSIONS, HANDOFF_SESSIONS = 5, 3
INSTRUCTION_KEYS = 12  # of each kind that the instructions name, where they fit
# The instructions of both servers at one address stay under 150 words with these.
INSTRUCTION_WORDS = 40
NO_TASK = "No active task"


def knowledge_prompts(knowledge: Knowledge) -> Sequence[Prompt]:
    """Return the four prompts; they speak of the project of the session or the server."""

    async def context_onboarding() -> str:
        """Everything a new agent should know about the project; public entries only."""
        return await onboarding((await knowledge.open()).store)

    async def context_handoff() -> str:
        """What the next agent needs to go on: task, blockers, last sessions."""
        return await _handoff((await knowledge.open()).store)

    async def context_review_decisions() -> str:
        """All decisions in full, to check whether they still hold."""
        return await _decisions_to_review((await knowledge.open()).store)

    async def context_resolve_conflicts() -> str:
        """The merge conflicts that wait, and how to resolve them."""
        return _conflicts(await (await knowledge.open()).resolution.status())

    return [
        Prompt(context_onboarding, "Onboarding", TOOLSET),
        Prompt(context_handoff, "Handoff", TOOLSET),
        Prompt(context_review_decisions, "Review decisions", TOOLSET),
        Prompt(context_resolve_conflicts, "Resolve conflicts", TOOLSET),
    ]


async def instructions(knowledge: Knowledge) -> str:
    """Two lines about the server's project; empty where it has none."""
    try:
        store = (await knowledge.open()).store
        summary = await summarise(store)
        flagged = needing_attention(await store.all(EntryType.SKILL))
    except CtxError:
        return ""
    text = ""
    for keys in range(INSTRUCTION_KEYS, -1, -1):
        text = _about(summary, flagged, keys)
        if len(text.split()) <= INSTRUCTION_WORDS:
            break
    return _first_words(text)


def _about(summary: Mapping[str, Any], flagged: Sequence[str], keys: int) -> str:
    """Two lines that name so many keys of each kind."""
    counts = [
        _counted(summary["knowledge_keys"], "knowledge entries", keys),
        _counted(summary["convention_keys"], "conventions", keys),
        f"{summary['decision_count']} decisions",
        _counted(summary["skill_names"], "skills", keys),
    ]
    first = f"Project '{summary['project']}': {', '.join(counts)}."
    parts = [f"Current task: {summary['current_task'] or 'none'}."]
    parts += [f"Blockers: {', '.join(summary['blockers'])}."] if summary["blockers"] else []
    parts += [f"Skills to review: {', '.join(flagged)}."] if flagged else []
    parts.append("Start with context_onboarding; context_sync_pull and context_sync_push share it.")
    return f"{first}\n{' '.join(parts)}"


def _first_words(text: str) -> str:
    """The text, cut where it has more words than the instructions have room for."""
    ends = [word.end() for word in re.finditer(r"\S+", text)]
    if len(ends) <= INSTRUCTION_WORDS:
        return text
    return text[: ends[INSTRUCTION_WORDS - 1]] + "…"


def _counted(names: Sequence[str], what: str, keys: int) -> str:
    shown = [*names[:keys]]
    shown += [f"{len(names) - keys} more"] if shown and len(names) > keys else []
    return f"{len(names)} {what}" + (f" ({', '.join(shown)})" if shown else "")


async def onboarding(store: KnowledgeStore) -> str:
    """The public knowledge of a project in one text."""
    summary = await summarise(store)
    public = {kind: await _public(store, kind) for kind in EntryType}
    decisions = [each for each in await all_decisions(store) if each.entry.scope is Scope.PUBLIC]
    parts = [f"# Project: {summary['project']}", f"Schema version: {summary['schema_version']}"]
    parts += _entries("Team Conventions", public[EntryType.CONVENTION], MAX_CONVENTIONS)
    parts += _entries("Knowledge Base", public[EntryType.KNOWLEDGE], MAX_KNOWLEDGE)
    if decisions:
        parts.append("## Architectural Decisions")
        parts += [_decision(each) for each in decisions[:MAX_DECISIONS]]
        parts += _rest(len(decisions) - MAX_DECISIONS)
    if skills := public[EntryType.SKILL]:
        parts.append("## Agent Skills")
        lines = [_skill_line(skill) for skill in skills[:MAX_SKILLS]]
        parts.append("\n".join([*lines, *_rest(len(skills) - MAX_SKILLS)]))
    parts += _state(await read_state(store))
    parts += _sessions(await read_sessions(store), ONBOARDING_SESSIONS)
    return "\n\n".join(parts) + "\n"


async def _handoff(store: KnowledgeStore) -> str:
    state = await read_state(store)
    parts = [
        f"# Handoff: {store.project.name}",
        f"Current task: {state['current_task'] or NO_TASK}",
    ]
    if state["blockers"]:
        parts.append("Blockers:\n" + "\n".join(f"- {each}" for each in state["blockers"]))
    if state["progress"]:
        progress = "\n".join(f"- {name}: {value}" for name, value in state["progress"].items())
        parts.append(f"Progress:\n{progress}")
    parts += _sessions(await read_sessions(store), HANDOFF_SESSIONS)
    parts.append(
        "Before you end: context_append_session with what was done, context_update_state with what "
        "is next, context_sync_push to share it."
    )
    return "\n\n".join(parts) + "\n"


async def _decisions_to_review(store: KnowledgeStore) -> str:
    decisions = await all_decisions(store)
    if not decisions:
        return "No decisions recorded yet."
    parts = ["# Decisions to review", "Check whether each still holds; record what replaces it."]
    parts += [
        f"{_decision(each)}\n\n{shortened(each.entry.content)}"
        for each in decisions[:MAX_DECISIONS]
    ]
    return "\n\n".join([*parts, *_rest(len(decisions) - MAX_DECISIONS)]) + "\n"


def _conflicts(status: dict[str, Any]) -> str:
    if status["status"] == "clean":
        return "No merge conflicts are pending."
    files = [each for each in status["report"]["conflicts"] if not each["resolved"]]
    lines = [f"- {each['file_path']}" for each in files]
    return "\n".join(
        [
            f"# Merge conflicts: {len(files)} to resolve",
            *lines,
            "",
            "For each file: context_conflict_detail shows both sides; write a text that keeps what "
            "both meant; context_resolve_conflict stores it. Then context_merge_finalize, or "
            "context_merge_abort to give up.",
        ]
    )


async def _public(store: KnowledgeStore, entry_type: EntryType) -> list[KnowledgeEntry]:
    return [entry for entry in await store.all(entry_type) if entry.scope is Scope.PUBLIC]


def _entries(title: str, entries: Sequence[KnowledgeEntry], most: int) -> list[str]:
    if not entries:
        return []
    shown = [f"### {entry.key}\n\n{shortened(entry.content.strip())}" for entry in entries[:most]]
    return [f"## {title}", *shown, *_rest(len(entries) - most)]


def _decision(recorded: RecordedDecision) -> str:
    decision = recorded.decision
    head = f"### ADR-{decision.number:04d}: {decision.title} ({decision.status})"
    return f"{head}\n\n{shortened(decision.decision)}" if decision.decision else head


def _skill_line(entry: KnowledgeEntry) -> str:
    skill = parse_skill(entry.content)
    return f"- {skill.name or entry.key}: {skill.description}"


def _state(state: dict[str, Any]) -> list[str]:
    if not state["current_task"] and not state["blockers"]:
        return []
    blockers = [f"Blockers: {', '.join(state['blockers'])}"] if state["blockers"] else []
    return ["## Current State", "\n".join([f"Task: {state['current_task'] or NO_TASK}", *blockers])]


def _sessions(sessions: Sequence[dict[str, Any]], most: int) -> list[str]:
    if not sessions:
        return []
    latest = sessions[::-1][:most]
    lines = [
        f"- {str(each.get('ended') or each.get('started') or '')[:10]} {each.get('agent', '')}: "
        f"{shortened(str(each.get('summary', '')), 300)}"
        for each in latest
    ]
    return ["## Recent Sessions", "\n".join(lines)]


def _rest(count: int) -> list[str]:
    return [more(count)] if count > 0 else []
