"""`repo_search` and its alias `code_search`."""

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ctx_core.serving.flat_arguments import flat_arguments
from ctx_core.serving.service import Effect, Tool
from ctx_indexer.tools.code_search import CodeSearch
from ctx_indexer.tools.foreign_arguments import adapt_search
from ctx_indexer.tools.responses import RepoSearchResult
from ctx_indexer.tools.search_arguments import SearchArguments
from ctx_indexer.tools.search_result import render_repo_search

TOOLSET = "search"


def search_tools(code: CodeSearch) -> Sequence[Tool]:
    """Build the code search under both its names."""

    @flat_arguments
    async def repo_search(asked: SearchArguments) -> RepoSearchResult:
        """Find code by meaning, words and symbols together; the best definitions come first.

        Filters may stand in the query too: lang: path: kind: symbol: repo: under: ext: not:
        """
        return await code.answer(asked, await code.view(asked))

    return [
        Tool(
            repo_search,
            "Search code",
            TOOLSET,
            Effect.READS,
            render=render_repo_search,
            lean=True,
            adapt=adapt_search,
        ),
        Tool(
            _alias(repo_search, "code_search"),
            "Search code",
            TOOLSET,
            Effect.READS,
            render=render_repo_search,
            alias_of="repo_search",
            adapt=adapt_search,
        ),
    ]


def _alias(run: Callable[..., Awaitable[Any]], name: str) -> Callable[..., Awaitable[Any]]:
    """Return the same function under another name."""

    @functools.wraps(run)
    async def alias(*args: Any, **kwargs: Any) -> Any:
        return await run(*args, **kwargs)

    alias.__name__ = name
    return alias
