"""Tools that share knowledge by git and resolve conflicts."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from ctx_core.errors import InvalidInput
from ctx_core.serving.service import Effect, Tool
from ctx_memory.knowledge.knowledge import Knowledge
from ctx_memory.knowledge.tools.arguments import ProjectFolder, tool

SYNC_SECONDS = 240.0  # several attempts, each with a fetch and a push
FilePath = Annotated[str, Field(description="Path of the file, as the report has it.")]


def sync_tools(knowledge: Knowledge) -> Sequence[Tool]:
    """Return the tools for git and for conflicts."""
    return [*_git_tools(knowledge), *_conflict_tools(knowledge)]


def _git_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_sync_push(
        message: Annotated[str, Field(description="Commit message; by default it is made.")] = "",
        project: ProjectFolder = None,
    ) -> dict[str, Any]:
        """Commit the project's public knowledge and push it; code is neither committed nor pushed.

        `status` is pushed, committed (no remote, or `push_error`), nothing_to_push or rejected.
        """
        if "\0" in message:
            raise InvalidInput("message", "holds a NUL character: remove it")
        return await (await knowledge.open(project)).sync.push(message)

    async def context_sync_pull(
        strategy: Annotated[
            str,
            Field(
                description="In a conflict: ours, theirs, or agent, which changes nothing and "
                "reports."
            ),
        ] = "ours",
        project: ProjectFolder = None,
    ) -> dict[str, Any]:
        """Pull the team's knowledge and merge it section by section; code is left alone.

        `status` is pulled, merged, up_to_date, no_remote or conflicts.
        """
        return await (await knowledge.open(project)).sync.pull(strategy)

    return [
        tool(context_sync_push, "Push knowledge", Effect.SETS, SYNC_SECONDS),
        tool(context_sync_pull, "Pull knowledge", Effect.SETS, SYNC_SECONDS),
    ]


def _conflict_tools(knowledge: Knowledge) -> Sequence[Tool]:
    async def context_merge_status(project: ProjectFolder = None) -> dict[str, Any]:
        """Tell whether a merge waits for its conflicts to be resolved."""
        return await (await knowledge.open(project)).resolution.status()

    async def context_conflict_detail(
        file_path: FilePath, project: ProjectFolder = None
    ) -> dict[str, Any]:
        """Show a conflicting file: both sides, their base, the difference, sections that clash."""
        return await (await knowledge.open(project)).resolution.detail(file_path)

    async def context_resolve_conflict(
        file_path: FilePath,
        content: Annotated[str, Field(description="The final text of the file.")],
        project: ProjectFolder = None,
    ) -> dict[str, Any]:
        """Resolve one conflicting file. `context_merge_finalize` applies it."""
        return await (await knowledge.open(project)).resolution.resolve(file_path, content)

    async def context_merge_finalize(project: ProjectFolder = None) -> dict[str, Any]:
        """Finish the merge in one commit; files that are not resolved keep our version."""
        return await (await knowledge.open(project)).resolution.finalize()

    async def context_merge_abort(project: ProjectFolder = None) -> dict[str, Any]:
        """Give the merge up; everything is as it was before the pull."""
        return await (await knowledge.open(project)).resolution.abort()

    return [
        tool(context_merge_status, "Merge status", Effect.READS),
        tool(context_conflict_detail, "Show a conflict", Effect.READS),
        tool(context_resolve_conflict, "Resolve a conflict", Effect.SETS),
        tool(context_merge_finalize, "Finish the merge", Effect.SETS, SYNC_SECONDS),
        tool(context_merge_abort, "Abort the merge", Effect.DESTROYS, SYNC_SECONDS),
    ]
