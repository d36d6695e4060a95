"""The indexer server's tools, in the words of the contract."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctx_core.errors import CollectionNotFound
from ctx_core.memories.results import MemoryWriter
from ctx_core.serving.service import Tool
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.search.searcher import Searcher
from ctx_indexer.tools.admin import admin_tools
from ctx_indexer.tools.answers import AnswerParts, answer_tools
from ctx_indexer.tools.code_search import CodeSearch
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.exact import exact_tools
from ctx_indexer.tools.graph import graph_tools
from ctx_indexer.tools.index import index_tools
from ctx_indexer.tools.memory import memory_tools
from ctx_indexer.tools.questions import QuestionParts, question_tools
from ctx_indexer.tools.read import read_tools
from ctx_indexer.tools.search import search_tools
from ctx_indexer.tools.session import session_tools
from ctx_indexer.tools.symbol_graph import symbol_graph_tools

INDEX_FIRST = "index first: call qdrant_index, or run: ctx index"


def indexer_tools(
    context: IndexerContext,
    searcher: Searcher,
    lookup: Lookup,
    memories: MemoryWriter,
    answers: AnswerParts,
    questions: QuestionParts,
) -> Sequence[Tool]:
    """Build every tool of the indexer server."""
    code = CodeSearch(context, searcher, lookup)
    tools = [
        *search_tools(code),
        *exact_tools(context, lookup),
        *read_tools(context, lookup),
        *graph_tools(context, lookup),
        *symbol_graph_tools(context, lookup),
        *answer_tools(code, answers),
        *question_tools(context, code, lookup, questions),
        *index_tools(context),
        *admin_tools(context),
        *memory_tools(memories, context.memory_collection),
        *session_tools(context),
    ]
    return [_saying_what_indexes(tool) for tool in tools]


def _saying_what_indexes(tool: Tool) -> Tool:
    """Return a tool whose error about a missing collection names the call that makes it."""

    @functools.wraps(tool.run)
    async def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool.run(*args, **kwargs)
        except CollectionNotFound as error:
            raise CollectionNotFound(f"{error.message}; {INDEX_FIRST}", **error.details) from error

    return replace(tool, run=run)
