"""`set_session_defaults` of the indexer: a collection, and filters of the searches."""

from typing import Annotated

from pydantic import Field

from ctx_core.errors import InvalidInput
from ctx_core.serving.service import Tool
from ctx_core.serving.sessions import (
    CollectionName,
    KnownCollections,
    SessionResult,
    SessionToken,
    session_tool,
)
from ctx_indexer.search.weights import MODES
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.filter_values import checked_languages

MADE_BY = "qdrant_index with a collection makes another"


def session_tools(context: IndexerContext) -> list[Tool]:
    """Build the tool that sets the defaults of later calls."""
    known = KnownCollections(context.code_collections, MADE_BY)

    async def set_session_defaults(
        collection: CollectionName = None,
        mode: Annotated[
            str | None, Field(description="Of repo_search: code_first, docs_first, balanced.")
        ] = None,
        under: Annotated[str | None, Field(description="Of repo_search.")] = None,
        language: Annotated[str | None, Field(description="Of repo_search.")] = None,
        session: SessionToken = None,
    ) -> SessionResult:
        """Set defaults for the calls that follow: a collection, and filters of repo_search.

        On a connection that lasts (SSE, stdio, HTTP with a session id) they apply to it at once.
        Otherwise pass the returned `session` to later calls, or to this tool on another connection.
        """
        await known.check(collection)
        if mode and mode not in MODES:
            raise InvalidInput("mode", f"{mode!r} is unknown; allowed: {', '.join(MODES)}")
        languages = checked_languages([language] if language else [])
        filters = {"mode": mode, "under": under, "language": languages[0] if languages else None}
        given = {name: value for name, value in filters.items() if value}
        return context.sessions.set(collection, session, filters=given)

    return [session_tool(set_session_defaults)]
