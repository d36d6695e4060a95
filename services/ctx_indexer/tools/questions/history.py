"""`change_history_for_path` and `search_commits_for`: when, by whom and why code was changed."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.errors import GitFailed, InvalidInput
from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.history.commits import Commit
from ctx_indexer.history.history import CommitHit, History
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.schema.fields import files_filter
from ctx_indexer.schema.payload import decode
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import Repo, Text, names_of
from ctx_indexer.view.views import ViewArguments

MAX_POINTS = 5_000
MAX_COMMITS = 100
SHOWN_COMMITS = 20
SHOWN_FILES, SHOWN_SYMBOLS = 10, 10
SHORT_ID = 10  # characters of a commit's id in text
MAX_GOAL = 300
HISTORY_SECONDS = 120.0  # the first question about a repository indexes its commits
_TAG = re.compile(r"^([a-z]{2,12})(?:\([^()\n]{0,40}\))?!?: ", re.IGNORECASE)
_ISSUE = re.compile(r"#\d{1,7}\b")


class PathCommit(TypedDict):
    """A commit that touched a file; `path` is its name then, where it was another."""

    commit_id: str
    author_name: str
    authored_date: str
    message: str
    path: NotRequired[str]


class PathSummary(TypedDict):
    """The changes of a file, as the index and git know them."""

    path: str
    points_scanned: int
    distinct_hashes: int
    last_modified: str | None
    last_modified_min: str | None
    last_modified_max: str | None
    ingested_min: str | None
    ingested_max: str | None
    commits: NotRequired[list[PathCommit]]


class PathHistoryResult(TypedDict):
    """The result of `change_history_for_path`."""

    ok: bool
    summary: PathSummary
    degraded: NotRequired[list[str]]


class FoundCommit(TypedDict):
    """A commit that fits a query, and `why`: the words, symbols and files of the query in it."""

    commit_id: str
    author_name: str
    authored_date: str
    message: str
    files: list[str]
    lineage_goal: str
    lineage_symbols: list[str]
    lineage_tags: list[str]
    score: float
    why: list[str]
    files_total: NotRequired[int]
    repo: NotRequired[str]


class CommitsResult(TypedDict):
    """The result of `search_commits_for`; `scanned` counts the commits that were searched."""

    ok: bool
    query: str
    results: list[FoundCommit]
    total: int
    scanned: int
    degraded: NotRequired[list[str]]


def history_tools(context: IndexerContext, lookup: Lookup, history: History) -> Sequence[Tool]:
    """Build the questions about changes."""

    async def change_history_for_path(
        path: Annotated[str, Field(min_length=1, description="File, relative to the workspace.")],
        max_points: Annotated[
            int, Field(ge=1, le=MAX_POINTS, description="Maximum chunks to read.")
        ] = 200,
        include_commits: Annotated[bool, Field(description="List its commits.")] = True,
        limit: Annotated[
            int, Field(ge=1, le=MAX_COMMITS, description="Maximum commits.")
        ] = SHOWN_COMMITS,
        repo: Repo = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> PathHistoryResult:
        """Tell when a file changed: its times in the index and its commits, across renames."""
        view = await context.views.resolve(
            ViewArguments(collection, session, names_of(repo), places=(path,))
        )
        file = await lookup.files.file(view, path)
        where = view.narrowed(files_filter(file.repo, [file.path]))
        records, _ = await context.vectors.scroll(view.collection, where=where, limit=max_points)
        chunks = [decode(record.payload) for record in records]
        modified = [_moment(chunk.modified_at) for chunk in chunks]
        ingested = [_moment(chunk.indexed_at) for chunk in chunks]
        last = max(modified, default=None)
        summary: PathSummary = {
            "path": view.shown(file.repo, file.path),
            "points_scanned": len(chunks),
            "distinct_hashes": len({chunk.blob for chunk in chunks}),
            "last_modified": last,
            "last_modified_min": min(modified, default=None),
            "last_modified_max": last,
            "ingested_min": min(ingested, default=None),
            "ingested_max": max(ingested, default=None),
        }
        result: PathHistoryResult = {"ok": True, "summary": summary}
        if include_commits:
            try:
                commits = await history.of_path(file.root, file.path, limit)
                summary["commits"] = [_path_commit(each, file.path) for each in commits]
            except GitFailed as error:
                result["degraded"] = [f"commits: {error.message}"]
        return result

    async def search_commits_for(
        query: Annotated[Text, Field(min_length=1, description="What was changed, or why.")],
        path: Annotated[
            str | None, Field(description="Only commits that touched this file or folder.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=MAX_COMMITS, description="Maximum results.")] = 10,
        repo: Repo = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> CommitsResult:
        """Find commits by words and meaning: message, changed files and symbols."""
        if not query.strip():
            raise InvalidInput("query", "Query cannot be empty")
        view = await context.views.resolve(
            ViewArguments(collection, session, names_of(repo), places=names_of(path))
        )
        found = await history.search(view, query, path, limit)
        several = len(found.repos) > 1
        result: CommitsResult = {
            "ok": True,
            "query": query,
            "results": [_found_commit(hit, several=several) for hit in found.hits],
            "total": len(found.hits),
            "scanned": found.searched,
        }
        if found.problems:
            result["degraded"] = list(found.problems)
        return result

    return [
        Tool(
            change_history_for_path,
            "Changes of a file",
            TOOLSET,
            Effect.READS,
            render=render_path_history,
        ),
        Tool(
            search_commits_for,
            "Search commits",
            TOOLSET,
            Effect.READS,
            HISTORY_SECONDS,
            render=render_commits,
        ),
    ]


def _moment(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")


def _path_commit(commit: Commit, path: str) -> PathCommit:
    shown: PathCommit = {
        "commit_id": commit.id,
        "author_name": commit.author,
        "authored_date": commit.date,
        "message": commit.subject,
    }
    if commit.path and not commit.path.endswith(path):
        shown["path"] = commit.path
    return shown


def _found_commit(hit: CommitHit, *, several: bool) -> FoundCommit:
    commit = hit.commit
    tags = [match[1].lower()] if (match := _TAG.match(commit.subject)) else []
    body = commit.message.partition("\n")[2].strip()
    found: FoundCommit = {
        "commit_id": commit.id,
        "author_name": commit.author,
        "authored_date": commit.date,
        "message": commit.subject,
        "files": list(commit.files[:SHOWN_FILES]),
        "lineage_goal": " ".join(body.split("\n\n")[0].split())[:MAX_GOAL],
        "lineage_symbols": list(commit.symbols[:SHOWN_SYMBOLS]),
        "lineage_tags": [*tags, *dict.fromkeys(_ISSUE.findall(commit.message))],
        "score": hit.score,
        "why": list(hit.why),
    }
    if len(commit.files) > SHOWN_FILES:
        found["files_total"] = len(commit.files)
    if several:
        found["repo"] = hit.repo
    return found


# --- text ----------------------------------------------------------------------------------


def render_path_history(result: Mapping[str, Any]) -> str:
    """Write the changes of a file as text, a line for each commit."""
    summary = result["summary"]
    lines = [f"{summary['path']}: modified {summary['last_modified']}"]
    for commit in summary.get("commits", ()):
        renamed = f" (as {commit['path']})" if "path" in commit else ""
        lines.append(f"{_commit_line(commit)}{renamed}")
    return "\n".join([*lines, *result.get("degraded", [])])


def render_commits(result: Mapping[str, Any]) -> str:
    """Write commits as text: id, date, author, subject, then why and the files."""
    lines = []
    for commit in result["results"]:
        lines.append(_commit_line(commit))
        if commit["lineage_goal"]:
            lines.append(f"  {commit['lineage_goal']}")
        more = commit.get("files_total", 0) - len(commit["files"])
        rest = f" and {more} more" if more > 0 else ""
        if commit["files"]:
            lines.append(f"  {', '.join(commit['files'])}{rest}")
    if not lines:
        lines.append(f"Nothing found in {result['scanned']} commits.")
    return "\n".join([*lines, *result.get("degraded", [])])


def _commit_line(commit: Mapping[str, Any]) -> str:
    day = commit["authored_date"][:10]
    repo = f"{commit['repo']}: " if "repo" in commit else ""
    short = commit["commit_id"][:SHORT_ID]
    return f"{repo}{short} {day} {commit['author_name']}: {commit['message']}"
