"""`search_callers_for` and `search_importers_for`: who uses a definition."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.marks import CALL, IMPORT
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.filter_values import check_places
from ctx_indexer.tools.foreign_arguments import adapt_use
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import Names, names_of
from ctx_indexer.tools.uses import Uses, UsesResult, Where
from ctx_indexer.view.views import ViewArguments

MAX_NAME = 300
MAX_USES = 500
DEFAULT_LIMIT = 30

Name = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME, description="Name, plain or `Class.method`.")
]
Limit = Annotated[int, Field(ge=1, le=MAX_USES, description="Maximum results.")]
Offset = Annotated[int, Field(ge=0, description="Results to skip.")]
Language = Annotated[str | None, Field(description="Only this language.")]
Repo = Annotated[Names, Field(description="Only these repositories; `*` is all.")]
Under = Annotated[str | None, Field(description="Only this folder.")]


def graph_tools(context: IndexerContext, lookup: Lookup) -> Sequence[Tool]:
    """Build the questions about who uses a definition."""
    uses = Uses(context, lookup)

    async def answer(
        asked: ViewArguments, language: str | None, query: str, role: str, limit: int, offset: int
    ) -> UsesResult:
        view = await context.views.resolve(asked)
        where = Where.of(view, language, asked.repos)
        found = await uses.build(where, query, role, limit, offset)
        if asked.under and not found["total"]:
            await check_places(context.vectors, view, where.filters, asked.repos)
        return found

    async def search_callers_for(
        query: Name,
        limit: Limit = DEFAULT_LIMIT,
        offset: Offset = 0,
        language: Language = None,
        repo: Repo = None,
        under: Under = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> UsesResult:
        """Find the calls of a function, method or class: resolved ones first, marked exact.

        Calls that only share the name are marked possible, with the reason.
        """
        asked = ViewArguments(collection, session, names_of(repo), names_of(under))
        return await answer(asked, language, query, CALL, limit, offset)

    async def search_importers_for(
        query: Name,
        limit: Limit = DEFAULT_LIMIT,
        offset: Offset = 0,
        language: Language = None,
        repo: Repo = None,
        under: Under = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> UsesResult:
        """Find the import statements that bring a function or class into a file."""
        asked = ViewArguments(collection, session, names_of(repo), names_of(under))
        return await answer(asked, language, query, IMPORT, limit, offset)

    return [
        Tool(tool, title, TOOLSET, Effect.READS, render=render_uses, adapt=adapt_use)
        for tool, title in (
            (search_callers_for, "Find callers"),
            (search_importers_for, "Find importers"),
        )
    ]


def render_uses(result: Mapping[str, Any]) -> str:
    """Write uses as text: a line each, under the heading of their file."""
    state = "complete" if result["complete"] else "not complete"
    counts = f"{result['exact']} exact, {result['possible']} possible ({state})"
    parts = [f"{counts} of {'; '.join(result['definitions'])}"]
    path = ""
    for use in result["results"]:
        if use["path"] != path:
            path = use["path"]
            parts.append(path)
        where = f" in {use['symbol']}" if use["symbol"] else ""
        sure = "" if use["certainty"] == Certainty.EXACT else f" [possible: {use['reason']}]"
        stale = " [stale]" if use.get("stale") else ""
        parts.append(f"{use['snippet']}{where}{sure}{stale}")
    if "next_offset" in result:
        parts.append(f"more: offset={result['next_offset']}")
    return "\n".join([*parts, *result.get("warnings", [])])
