"""One way for commands to ask the indexer about the code of this folder."""

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctx.client import Client, LocalClient, connect, find_connection, in_folder, workspace_setting
from ctx.output import show_note
from ctx.terminal import from_here
from ctx.workspaces import workspace_around
from ctx_core.errors import CollectionNotFound, CtxError, EntryNotFound, NotPermitted
from ctx_indexer.source.workspace import resolve_workspace

if TYPE_CHECKING:
    from ctx_core.serving.progress import Report
    from ctx_core.settings import Settings

Body = dict[str, Any]
# They are about a whole repository: `under` would be ignored, with a warning.
WITHOUT_FOLDER = frozenset({"symbol_graph", "search_commits_for", "change_history_for_path"})


def ask_indexer(tool: str, arguments: Body, on_progress: "Report | None" = None) -> Body:
    """Call a tool of the running indexer, or here after the folder was brought up to date.

    Only the repository of the folder is asked about, unless the arguments name another. Raises
    CtxError.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    return asyncio.run(_ask(tool, given, on_progress))


async def _ask(tool: str, arguments: Body, on_progress: "Report | None") -> Body:
    folder = resolve_workspace(workspace_setting())
    async with connect("indexer", lambda settings: in_folder(settings, folder)) as client:
        if isinstance(client, LocalClient):
            arguments = await _update_index(client, folder) | arguments
        elif "repo" not in arguments:
            given = arguments.get("under") or ""
            filters = _checkout_filter(find_connection().data_dir, folder, given)
            if tool in WITHOUT_FOLDER:
                del filters["under"]
            return await _call_there(client, tool, arguments | filters, folder, on_progress)
        return await client.call(tool, arguments, on_progress)


async def _call_there(
    client: Client, tool: str, arguments: Body, folder: Path, on_progress: "Report | None"
) -> Body:
    """Call a tool about an indexed folder. Raises CollectionNotFound where that has no files."""
    try:
        return await client.call(tool, arguments, on_progress)
    except CtxError as error:
        if error.details.get("field") == "repo":  # not named by the user, and nothing is of it
            raise _no_files(folder) from error
        raise


def _no_files(folder: Path) -> CollectionNotFound:
    return CollectionNotFound(f"{folder} has no files to search; ctx index says what it skips.")


def ask_about_name(tool: str, name: str, filters: Body) -> Body:
    """Call a tool about a definition. Raises EntryNotFound where no file defines the name."""
    try:
        return ask_indexer(tool, {"query": name, **filters})
    except CtxError as error:
        if error.details.get("field") != "query" or "suggestions" not in error.details:
            raise
        similar = [each for each in error.details["suggestions"] if each != name]
        near = f"; similar names: {', '.join(similar)}" if similar else ""
        what = f"no indexed file defines {name!r}{near}"
        hint = f"Look for it with: ctx search {shlex.quote(name)}"
        raise EntryNotFound("NAME", f"{what}. {hint}", suggestions=similar) from error


def _checkout_filter(data_dir: Path, folder: Path, under: str) -> Body:
    """Return the filter for the checkout that a folder lies in, or for a folder inside it.

    Raises CollectionNotFound where it was not indexed.
    """
    found = workspace_around(data_dir, folder)
    if found is None:
        raise CollectionNotFound(
            f"{folder} is not indexed. Index it with: ctx index {shlex.quote(str(folder))} "
            "(--repo '*' searches everything that is indexed)"
        )
    root, state = found
    return {
        "repo": state.repo,
        "collection": state.collection_name,
        "under": str(root / under),
    }


async def _update_index(client: LocalClient, folder: Path) -> Body:
    """Bring the index up to date with a folder, and return the filter for its repository."""
    try:
        indexed = await client.call("qdrant_index", {"subdir": str(folder)})
    except NotPermitted as refused:
        show_note(f"searching what is indexed already: {refused}")
        return {}
    stats = indexed["stats"]
    if not stats["files_processed"] + stats["files_unchanged"]:
        raise _no_files(folder)
    return {} if _has_default_repo(client.settings) else {"repo": indexed["repo"]}


def _has_default_repo(settings: "Settings") -> bool:
    return settings.repo_auto_filter and settings.current_repo is not None


def show_notes(body: Body) -> None:
    """Print what an answer lacks, and what was wrong with the question, to standard error."""
    for reason in (*body.get("degraded", ()), *body.get("warnings", ())):
        show_note(from_here(reason))
