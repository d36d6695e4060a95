"""Parameters and answers that several knowledge tools share, and how they write errors."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from services.core.errors import CtxError
from services.core.serving.service import Effect, Tool

TOOLSET = "knowledge"

ProjectFolder = Annotated[
    str | None, Field(description="Folder of the project; by default the server's or session's.")
]
NewScope = Annotated[
    str,
    Field(
        description="public (shared by git), private or ephemeral; empty keeps it (new: public)."
    ),
]
Key = Annotated[str, Field(description="Name of the entry, such as `architecture`.")]


class KeyResult(TypedDict):
    """The answer about an entry. `note` says what the caller should know beyond the status."""

    status: str
    key: str
    scope: NotRequired[str]
    note: NotRequired[str]


def error_body(error: CtxError) -> dict[str, Any]:
    """Write an error as this dialect does."""
    return {"status": "error", "error": error.message, "error_code": error.code}


def tool(run: Any, title: str, effect: Effect, seconds: float | None = None) -> Tool:
    """Describe a tool of this dialect."""
    return Tool(run, title, TOOLSET, effect, seconds, error_body=error_body)
