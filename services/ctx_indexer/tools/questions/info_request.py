"""`info_request`: a search whose results describe each hit in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.search.query import MAX_QUERY_LENGTH
from ctx_indexer.tools.code_search import CodeSearch
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.questions.info_explanation import InfoHit, InfoResult, explain
from ctx_indexer.tools.questions.relationships import RelationshipReader
from ctx_indexer.tools.responses import RepoSearchResult
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import (
    MAX_CONTEXT_LINES,
    MAX_LIMIT,
    IncludeSnippet,
    Language,
    PathGlob,
    Repo,
    SearchArguments,
    Under,
    names_of,
)
from ctx_indexer.tools.search_result import render_repo_search

SHORT_LIMIT, QUESTION_LIMIT = 15, 8  # the contract's
SHORT_WORDS = 2
# Arguments of the same meaning that clients of other servers send.
ALIASES = ("information_request", "query", "q")
_QUESTION = re.compile(
    r"^\s*(?:how|what|where|why|when|which|who|does|do|is|are|can|should)\b|\?\s*$", re.IGNORECASE
)


def info_tools(context: IndexerContext, code: CodeSearch) -> Sequence[Tool]:
    """Build `info_request`."""
    defaults = context.info

    async def info_request(
        info_request: Annotated[
            str, Field(max_length=MAX_QUERY_LENGTH, description="The code to find, in words.")
        ],
        include_explanation: Annotated[
            bool, Field(description="Add a summary, groups and confidence.")
        ] = defaults.explains,
        include_relationships: Annotated[
            bool, Field(description="Add imports, calls and related files.")
        ] = defaults.relationships,
        limit: Annotated[
            int | None, Field(ge=1, le=MAX_LIMIT, description="Maximum results.")
        ] = None,
        language: Language = None,
        under: Under = None,
        repo: Repo = None,
        path_glob: PathGlob = None,
        include_snippet: IncludeSnippet = True,
        context_lines: Annotated[
            int, Field(ge=0, le=MAX_CONTEXT_LINES, description="Lines around each definition.")
        ] = defaults.context_lines,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> InfoResult:
        """Find code by a description; each result says in a sentence what it is."""
        asked = SearchArguments(
            query=info_request,
            limit=limit or smart_limit(info_request, defaults.limit),
            repo=repo,
            language=language,
            path_glob=path_glob,
            under=under,
            include_snippet=include_snippet,
            context_lines=context_lines,
            highlight_snippet=False,
            collection=collection,
            session=session,
        )
        found = await code.find(asked, await code.view(asked))
        shown = code.show(asked, found)
        strategy = strategy_of(asked, shown)
        result = _result(shown, strategy)
        if include_snippet and context_lines != defaults.context_lines:
            result["context_lines"] = context_lines
        if include_relationships:
            reader = RelationshipReader(context.vectors, found.view)
            related = await reader.read(found.located.hits[: asked.limit])
            for hit, each in zip(result["results"], related, strict=True):
                hit["relationships"] = each
        if include_explanation:
            explain(result, asked, found)
        return result

    return [
        Tool(
            info_request,
            "Find code by description",
            TOOLSET,
            Effect.READS,
            render=render_info,
            adapt=adapt_info,
        )
    ]


def adapt_info(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with the request under its own name."""
    given = dict(arguments)
    for name in ALIASES:
        value = given.pop(name, None)
        if value and not given.get("info_request"):
            given["info_request"] = value
    return given


def smart_limit(request: str, default: int) -> int:
    """Return how many results fit a request: many for a word or two, few for a question."""
    if _QUESTION.search(request):
        return QUESTION_LIMIT
    return SHORT_LIMIT if len(request.split()) <= SHORT_WORDS else default


def strategy_of(asked: SearchArguments, shown: RepoSearchResult) -> str:
    """Name the parts of a search: `hybrid+rerank+lang:python`."""
    labels = ["hybrid"]
    if shown["used_rerank"]:
        labels.append("rerank")
    if names_of(asked.repo):
        labels.append("repo_filtered")
    if asked.language:
        labels.append(f"lang:{asked.language.lower()}")
    if names_of(asked.under) or names_of(asked.path_glob):
        labels.append("path_filtered")
    return "+".join(labels)


def _result(shown: RepoSearchResult, strategy: str) -> InfoResult:
    hits: list[InfoHit] = []
    for each in shown["results"]:
        hit: InfoHit = {
            "score": each["score"],
            "path": each["path"],
            "symbol": each["symbol"],
            "start_line": each["start_line"],
            "end_line": each["end_line"],
            "information": _sentence(each),
            "relevance_score": each["score"],
        }
        if "snippet" in each:
            hit["snippet"] = each["snippet"]
        if each.get("stale"):
            hit["stale"] = True
            hit["stale_reason"] = each["stale_reason"]
        hits.append(hit)
    result: InfoResult = {
        "ok": True,
        "results": hits,
        "total": shown["total"],
        "search_strategy": strategy,
    }
    if "degraded" in shown:
        result["degraded"] = shown["degraded"]
    if "warnings" in shown:
        result["warnings"] = shown["warnings"]
    return result


def _sentence(hit: Mapping[str, Any]) -> str:
    what = f"'{hit['symbol']}'" if hit["symbol"] else hit["metadata"]["kind"]
    name = hit["path"].rpartition("/")[2]
    return f"Found {what} in {name} (lines {hit['start_line']}-{hit['end_line']})"


# --- text ----------------------------------------------------------------------------------


def render_info(result: Mapping[str, Any]) -> str:
    """Write results as `repo_search` does, with the explanation above and relationships below."""
    hits = [{**hit, "metadata": {}} for hit in result["results"]]
    lines = []
    if "summary" in result:
        sure = result["confidence"]
        lines.append(f"{result['summary']}; confidence {sure['level']} ({sure['top_score']})")
        lines.append(f"related: {', '.join(result['related_concepts'])}")
    lines.append(render_repo_search({**result, "results": hits}))
    for hit in result["results"]:
        if relationships := hit.get("relationships"):
            lines.append(_related_text(hit, relationships))
    return "\n".join(lines)


def _related_text(hit: Mapping[str, Any], relationships: Mapping[str, Any]) -> str:
    related = [
        f"{name} {', '.join(relationships[key])}"
        for name, key in (("imports", "imports_from"), ("calls", "calls"), ("see", "related_paths"))
        if relationships[key]
    ]
    return f"{hit['path']}:{hit['start_line']} {'; '.join(related)}"
