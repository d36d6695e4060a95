"""Tools for knowledge and conventions: search, add, remove, read and set."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.errors import KnowledgeNotFound
from ctx_core.serving.service import Effect, JsonText, Tool
from ctx_memory.knowledge.dotpath import get_value, set_value
from ctx_memory.knowledge.entries import add_entry
from ctx_memory.knowledge.entry import EntryType, entry_key
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.search.searcher import KnowledgeHit
from ctx_memory.knowledge.tools.arguments import (
    Key,
    KeyResult,
    NewScope,
    ProjectFolder,
    history_note,
    tool,
)

MAX_QUERY_LENGTH = 1000
REPEATED = "not stored again: this entry has the same text"
Content = Annotated[str, Field(description="Markdown text of the entry, all of it.")]
Dotpath = Annotated[
    str,
    Field(description="knowledge.KEY, decisions.1, state, manifest.project.name, …"),
]


class DotpathResult(TypedDict):
    """The answer of `context_set`."""

    status: str
    dotpath: str
    key: NotRequired[str]
    note: NotRequired[str]


class Convention(TypedDict):
    """One team convention."""

    key: str
    content: str
    scope: str


class ConventionText(TypedDict):
    """The answer of `context_get_convention`."""

    key: str
    content: str


def entry_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return the tools for knowledge and conventions."""
    return [*_knowledge_tools(knowledge), *_convention_tools(knowledge)]


async def _add(
    knowledge: Knowledge,
    entry_type: EntryType,
    key: str,
    content: str,
    scope: str,
    project: str | None,
) -> KeyResult:
    store = (await knowledge.open(project)).store
    added = await add_entry(store, entry_type, key, content, scope, knowledge.author())
    answer: KeyResult = {"status": "ok", "key": added.key}
    if added.is_repeated:
        answer["note"] = REPEATED
    elif note := await history_note(store, entry_type, added.key, scope):
        answer["note"] = note
    return answer


async def _remove(
    knowledge: Knowledge, entry_type: EntryType, key: str, project: str | None
) -> KeyResult:
    store = (await knowledge.open(project)).store
    name = entry_key(key)
    removed = await store.remove(entry_type, name)
    return {"status": "removed" if removed else "not_found", "key": name if removed else key}


def _knowledge_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_search(
        query: Annotated[
            str, Field(max_length=MAX_QUERY_LENGTH, description="Words or a question.")
        ],
        project: ProjectFolder = None,
    ) -> list[KnowledgeHit]:
        """Search the project's knowledge, decisions, conventions and skills, by meaning and words.

        Returns the best lines with file, line and score; `context_get` reads a whole entry.
        """
        return await (await knowledge.open(project)).searcher.search(query)

    async def context_add_knowledge(
        key: Key, content: Content, scope: NewScope = "", project: ProjectFolder = None
    ) -> KeyResult:
        """Add or replace a knowledge entry: what everybody who works on the project should know.

        The answer names the key used; it is another one if the same text is stored already.
        """
        return await _add(knowledge, EntryType.KNOWLEDGE, key, content, scope, project)

    async def context_remove_knowledge(key: Key, project: ProjectFolder = None) -> KeyResult:
        """Remove a knowledge entry."""
        return await _remove(knowledge, EntryType.KNOWLEDGE, key, project)

    async def context_get(dotpath: Dotpath, project: ProjectFolder = None) -> Any:
        """Read a value by its path.

        It begins with knowledge, conventions, decisions, skills, state, preferences, manifest or
        history.
        """
        return JsonText(await get_value((await knowledge.open(project)).store, dotpath))

    async def context_set(
        dotpath: Annotated[
            str,
            Field(description="knowledge.KEY, conventions.KEY, state.X, preferences.team|user.X"),
        ],
        value: Annotated[str, Field(description="The new value.")],
        project: ProjectFolder = None,
    ) -> DotpathResult:
        """Set a value by its path."""
        store = (await knowledge.open(project)).store
        added = await set_value(store, dotpath, value, knowledge.author())
        answer: DotpathResult = {"status": "ok", "dotpath": dotpath}
        if added is not None and not dotpath.strip().endswith(f".{added.key}"):
            answer["key"] = added.key
        if added is not None and added.is_repeated:
            answer["note"] = REPEATED
        return answer

    return [
        tool(context_search, "Search knowledge", Effect.READS),
        tool(context_add_knowledge, "Add knowledge", Effect.SETS),
        tool(context_remove_knowledge, "Remove knowledge", Effect.DESTROYS),
        tool(context_get, "Read a value", Effect.READS),
        tool(context_set, "Set a value", Effect.SETS),
    ]


def _convention_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_add_convention(
        key: Key, content: Content, scope: NewScope = "", project: ProjectFolder = None
    ) -> KeyResult:
        """Add or replace a team convention: a rule that every agent follows here."""
        return await _add(knowledge, EntryType.CONVENTION, key, content, scope, project)

    async def context_get_convention(key: Key, project: ProjectFolder = None) -> ConventionText:
        """Read one convention."""
        store = (await knowledge.open(project)).store
        entry = await store.get(EntryType.CONVENTION, entry_key(key))
        if entry is None:
            raise KnowledgeNotFound(f"Convention '{key}' not found")
        return {"key": entry.key, "content": entry.content}

    async def context_list_conventions(project: ProjectFolder = None) -> list[Convention]:
        """List all team conventions."""
        store = (await knowledge.open(project)).store
        return [
            {"key": entry.key, "content": entry.content, "scope": entry.scope.value}
            for entry in await store.all(EntryType.CONVENTION)
        ]

    async def context_rm_convention(key: Key, project: ProjectFolder = None) -> KeyResult:
        """Remove a convention."""
        return await _remove(knowledge, EntryType.CONVENTION, key, project)

    return [
        tool(context_add_convention, "Add a convention", Effect.SETS),
        tool(context_get_convention, "Read a convention", Effect.READS),
        tool(context_list_conventions, "List conventions", Effect.READS),
        tool(context_rm_convention, "Remove a convention", Effect.DESTROYS),
    ]
