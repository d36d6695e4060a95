"""Tools as fastmcp registers them, each read once for all servers of a process."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from fastmcp.tools import FunctionTool
from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations

from ctx_core.serving.mcp.calls import deadline_of
from ctx_core.serving.mcp.pipeline import with_deadline, with_texts
from ctx_core.serving.mcp.schemas import OUTPUT_SCHEMA, without_obvious_descriptions
from ctx_core.serving.service import Effect, Tool
from ctx_core.settings import Settings


class ShortTool(FunctionTool):
    """A tool that is listed without fastmcp's own data, which no client reads, and in few words."""

    def to_mcp_tool(self, **overrides: Any) -> ListedTool:
        schema = without_obvious_descriptions(self.parameters)
        return super().to_mcp_tool(**{"_meta": None, "inputSchema": schema, **overrides})


class ToolCatalog:
    """The registered form of every tool that was asked for, with all its parameters.

    Reading a signature takes milliseconds, and `ctx up` serves each tool at two addresses.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._registered: dict[Callable[..., Awaitable[Any]], ShortTool] = {}

    def registered(self, tool: Tool) -> ShortTool:
        """Return a tool as fastmcp registers it."""
        found = self._registered.get(tool.run)
        if found is None:
            found = self._registered[tool.run] = self._register(tool)
        return found

    def _register(self, tool: Tool) -> ShortTool:
        run = with_texts(with_deadline(tool.run, deadline_of(tool, self._settings)))
        signature = inspect.signature(run)
        # Without a type of results fastmcp derives no schema of them, which none would list.
        unread = signature.replace(return_annotation=inspect.Signature.empty)
        run.__signature__ = unread  # type: ignore[attr-defined]  # any function may have one
        # Nor does it parse a docstring that is not there: parameters describe themselves.
        description, run.__doc__ = inspect.getdoc(run), None
        registered = ShortTool.from_function(
            run,
            title=tool.title,
            description=description,
            annotations=_hints(tool),
            output_schema=dict(OUTPUT_SCHEMA),
        )
        registered.return_type = signature.return_annotation
        assert isinstance(registered, ShortTool)
        return registered


def _hints(tool: Tool) -> ToolAnnotations:
    """Return what a client may rely on; the other hints say nothing of a tool that only reads.

    `openWorldHint` is left out: no client asks for it.
    """
    if not tool.writes:
        return ToolAnnotations(read_only_hint=True)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.effect in (Effect.REPLACES, Effect.DESTROYS),
        idempotent_hint=tool.effect not in (Effect.ADDS, Effect.REPLACES),
    )
