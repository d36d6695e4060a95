"""Parameters and answers that several knowledge tools share, and how they write errors."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.blocking import GIT
from ctx_core.errors import CtxError
from ctx_core.serving.service import Effect, Tool
from ctx_memory.knowledge.entry import EntryType, Scope, parse_scope
from ctx_memory.knowledge.public import entry_path
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.sync.history import History

TOOLSET = "knowledge"

ProjectFolder = Annotated[
    str | None, Field(description="Project folder; by default the session's.")
]
NewScope = Annotated[
    str,
    Field(
        description="public (shared by git), private or ephemeral; empty keeps it (new: public)."
    ),
]
Key = Annotated[str, Field(description="Name of the entry, such as `architecture`.")]


class KeyResult(TypedDict):
    """The answer about an entry. `note` is a remark beyond the status."""

    status: str
    key: str
    scope: NotRequired[str]
    note: NotRequired[str]


async def history_note(
    store: KnowledgeStore, entry_type: EntryType, key: str, scope: str
) -> str | None:
    """Say that git history has the text of an entry that is given a scope other than public."""
    repository = await GIT.run(lambda: store.project.repository)
    if not scope.strip() or parse_scope(scope) is Scope.PUBLIC or repository is None:
        return None
    path = entry_path(entry_type, key)
    commit = await GIT.run(History(repository).last_with, path)
    if commit is None:
        return None
    return (
        f"git history still has its text (commit {commit[:7]}, and wherever that was pushed); the "
        "next push only removes it from the newest version"
    )


def error_body(error: CtxError) -> dict[str, Any]:
    """Write an error as this dialect does."""
    return {"status": "error", "error": error.message, "error_code": error.code}


def tool(run: Any, title: str, effect: Effect, seconds: float | None = None) -> Tool:
    """Describe a tool of this dialect."""
    return Tool(run, title, TOOLSET, effect, seconds, error_body=error_body)
