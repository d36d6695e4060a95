"""`search_tests_for` and `search_config_for`: files by their purpose, as it was indexed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctx_core.serving.flat_arguments import flat_arguments
from ctx_core.serving.service import Effect, Tool
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.tools.code_search import CodeSearch, FoundCode
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.foreign_arguments import adapt_search
from ctx_indexer.tools.questions.callers_in_tests import CallersInTests
from ctx_indexer.tools.responses import RepoSearchResult
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import SearchArguments
from ctx_indexer.tools.search_result import render_repo_search, with_warnings
from ctx_indexer.tools.uses import Uses

UNUSED = "no test calls {} as far as calls are resolved; these are tests about it"
UNSET = "no configuration file holds {}; exact_search tells whether any file does"
_SEPARATORS = re.compile(r"[\W_]+")


def purpose_tools(context: IndexerContext, code: CodeSearch, lookup: Lookup) -> Sequence[Tool]:
    """Build the searches in tests and in configuration."""
    users = CallersInTests(lookup.files, Uses(context, lookup))

    @flat_arguments
    async def search_tests_for(asked: SearchArguments) -> RepoSearchResult:
        """Find tests; for a symbol, those that call it. It has the parameters of `repo_search`."""
        view = await code.view(asked)
        name = users.symbol_of(asked)
        found = await users.answer(asked, name, view) if name else None
        if found is not None and found["results"]:
            return found
        result = await code.answer(asked, view, is_test=True)
        if found is not None:
            result["warnings"] = [UNUSED.format(name), *result.get("warnings", ())]
        return result

    @flat_arguments
    async def search_config_for(asked: SearchArguments) -> RepoSearchResult:
        """Find settings, build, CI and deployment files. It has the parameters of `repo_search`."""
        found = await code.find(asked, await code.view(asked), is_config=True)
        if not (name := missing_setting(found)):
            return code.show(asked, found)
        unrelated = replace(found.result, left_out=0)
        nothing = replace(found.located, hits=[])
        none = replace(found, result=unrelated, located=nothing, total=0)
        return with_warnings(code.show(asked, none), [UNSET.format(name)])

    return [
        _tool(search_tests_for, "Search tests", render_tests),
        _tool(search_config_for, "Search configuration", render_configuration),
    ]


def _tool(run: Any, title: str, render: Any) -> Tool:
    return Tool(
        run,
        title,
        TOOLSET,
        Effect.READS,
        render=render,
        extends="repo_search",
        adapt=adapt_search,
    )


def render_tests(result: Mapping[str, Any]) -> str:
    """Write tests as text; tests that call a symbol stand below the counts of their calls."""
    text = render_repo_search(result)
    if "exact" not in result:
        return text
    state = "complete" if result["complete"] else "not complete"
    counts = f"{result['exact']} exact, {result['possible']} possible ({state})"
    return f"{counts} tests of {'; '.join(result['definitions'])}\n{text}"


def render_configuration(result: Mapping[str, Any]) -> str:
    """Write configuration as text, below the warning that no file holds a setting."""
    said = result.get("warnings", [])
    if said and not result["results"]:
        return "\n".join(said)
    return "\n".join([*said, render_repo_search({**result, "warnings": []})])


def missing_setting(found: FoundCode) -> str:
    """Return the name of a setting that is all of the query and that no hit has in any spelling."""
    name = found.query.text
    if not found.located.hits or found.query.literals != (name,):
        return ""
    parts = [_squeezed(part) for part in name.split(".")]
    for hit, _ in found.located.hits:
        held = _squeezed(f"{hit.chunk.path} {hit.chunk.text}")
        if all(part in held for part in parts):
            return ""
    return name


def _squeezed(text: str) -> str:
    """Return a text in one spelling: `maxRetries`, `max-retries`, MAX_RETRIES → `maxretries`."""
    return _SEPARATORS.sub("", text).lower()
