"""The board beside the entries: the state of the work, preferences, the history of sessions."""

import platform
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from ctx_core.blocking import DISK
from ctx_core.errors import KnowledgeRefused
from ctx_core.git.run import git_line
from ctx_memory.knowledge.documents import append_ndjson, dump_json, parse_ndjson, parse_object
from ctx_memory.knowledge.manifest import ACTIVE_STATE, USER_PREFERENCES, now
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret

HISTORY = "history/sessions.ndjson"
PREFERENCES = {"team": "preferences/team.json", "user": USER_PREFERENCES}
EMPTY_STATE: dict[str, Any] = {
    "current_task": "",
    "blockers": [],
    "progress": {},
    "last_agent": "",
    "last_machine": "",
    "updated_at": "",
}
Json = dict[str, Any]


async def read_state(store: KnowledgeStore) -> Json:
    """Return the state of the work on this machine."""
    text = await DISK.run(store.project.folder.read, ACTIVE_STATE)
    return EMPTY_STATE | {"blockers": [], "progress": {}} | parse_object(text)


async def update_state(
    store: KnowledgeStore,
    agent: str,
    current_task: str | None = None,
    blockers: list[str] | None = None,
    other: Json | None = None,
) -> Json:
    """Change the given parts of the state, keep the others; return the new state.

    `other` sets the agent, the machine, or parts of the progress.
    """

    def change(state: Json) -> Json:
        given = other or {}
        named = {name: value for name, value in given.items() if name in EMPTY_STATE}
        progress = {name: value for name, value in given.items() if name not in EMPTY_STATE}
        changed = state | {"last_agent": agent, "last_machine": platform.node()} | named
        changed["progress"] = {**state["progress"], **progress}
        if current_task is not None:
            changed["current_task"] = current_task
        if blockers is not None:
            changed["blockers"] = blockers
        return changed | {"updated_at": now()}

    return await _edit(
        store, ACTIVE_STATE, lambda before: change(EMPTY_STATE | {"progress": {}} | before)
    )


async def read_preferences(store: KnowledgeStore, whose: str) -> Json:
    """Return the preferences of the team or the user."""
    text = await DISK.run(store.project.folder.read, PREFERENCES[whose])
    values = parse_object(text).get("values", {})
    return values if isinstance(values, dict) else {}


async def set_preference(store: KnowledgeStore, whose: str, name: str, value: str) -> None:
    """Set one preference; the team's are shared, so a secret raises KnowledgeRefused."""
    if whose not in PREFERENCES:
        raise KnowledgeRefused("Specify preferences.team.<key> or preferences.user.<key>")
    if whose == "team":
        refuse_secret(f"{name} = {value}")

    def change(before: Json) -> Json:
        return {**before, "values": {**before.get("values", {}), name: value}}

    await _edit(store, PREFERENCES[whose], change)


async def append_session(
    store: KnowledgeStore,
    agent: str,
    summary: str,
    knowledge_added: list[str],
    decisions_added: list[str],
) -> str:
    """Add a session to the history that all share; return its id."""
    refuse_secret(summary)
    folder = store.project.folder
    user = await DISK.run(git_line, store.project.root, "config", "user.name")
    record = {
        "id": str(uuid4()),
        "agent": agent,
        "user": user or "",
        "machine": "",  # the history is public; whose machine it was is nobody's business
        "started": now(),
        "ended": now(),
        "summary": summary,
        "knowledge_added": knowledge_added,
        "decisions_added": decisions_added,
        "skills_used": [],
    }

    async def work() -> None:
        await store.prepare_folder()
        text = await DISK.run(folder.read, HISTORY)
        await DISK.run(folder.write, HISTORY, append_ndjson(text or "", [record]))

    await store.write(work)
    return str(record["id"])


async def read_sessions(store: KnowledgeStore) -> list[Json]:
    """Return every session, the oldest first."""
    text = await DISK.run(store.project.folder.read, HISTORY)
    return [record for record in parse_ndjson(text or "") if isinstance(record, dict)]


def words(given: str) -> list[str]:
    """Split a comma-separated list."""
    return [part.strip() for part in given.split(",") if part.strip()]


async def _edit(store: KnowledgeStore, name: str, change: Callable[[Json], Json]) -> Json:
    folder = store.project.folder

    async def work() -> Json:
        await store.prepare_folder()
        after = change(parse_object(await DISK.run(folder.read, name)))
        await DISK.run(folder.write, name, dump_json(after))
        return after

    return await store.write(work)
