"""`info_request`: a search whose results say in words what was found."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_core.text.tokens import terms, word_parts
from ctx_indexer.languages.registry import LANGUAGES
from ctx_indexer.search.query import MAX_QUERY_LENGTH, ParsedQuery
from ctx_indexer.tools.code_search import CodeSearch, FoundCode
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.questions.relationships import RelationshipReader, Relationships
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
MAX_LOCATIONS, MAX_CONCEPTS, MAX_SYMBOLS = 5, 10, 5
HIGH_SCORE, MEDIUM_SCORE = 0.8, 0.6
# Arguments of the same meaning that clients of other servers send.
ALIASES = ("information_request", "query", "q")
_QUESTION = re.compile(
    r"^\s*(?:how|what|where|why|when|which|who|does|do|is|are|can|should)\b|\?\s*$", re.IGNORECASE
)


class InfoHit(TypedDict):
    """A definition that was found, and `information`: a sentence that says so."""

    score: float
    path: str
    symbol: str
    start_line: int
    end_line: int
    information: str
    relevance_score: float
    snippet: NotRequired[str]
    relationships: NotRequired[Relationships]
    stale: NotRequired[bool]
    stale_reason: NotRequired[str]


class FileGroup(TypedDict):
    """The results of one file."""

    count: int
    top_symbols: list[str]


class Confidence(TypedDict):
    """How sure the search is, as a word and by the mean and best score."""

    level: str
    score: float
    top_score: float
    symbol_matches: int


class QueryUnderstanding(TypedDict):
    """What the request was taken for."""

    intent: str
    detected_language: str | None
    detected_symbols: list[str]
    search_strategy: str


class InfoResult(TypedDict):
    """The result of `info_request`; all below `search_strategy` where an explanation is asked."""

    ok: bool
    results: list[InfoHit]
    total: int
    search_strategy: str
    summary: NotRequired[str]
    primary_locations: NotRequired[list[str]]
    related_concepts: NotRequired[list[str]]
    grouped_results: NotRequired[dict[str, dict[str, FileGroup]]]
    confidence: NotRequired[Confidence]
    query_understanding: NotRequired[QueryUnderstanding]
    context_lines: NotRequired[int]
    degraded: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


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
            _explain(result, asked, found)
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


# --- explanation ---------------------------------------------------------------------------


def _explain(result: InfoResult, asked: SearchArguments, found: FoundCode) -> None:
    hits, query = result["results"], found.query
    files: dict[str, list[str]] = defaultdict(list)
    for hit in hits:
        files[hit["path"]].append(hit["symbol"])
    result["summary"] = (
        f"Found {len(hits)} results related to '{asked.query}' across {len(files)} files"
    )
    result["primary_locations"] = list(files)[:MAX_LOCATIONS]
    result["related_concepts"] = _concepts(hits, query)
    result["grouped_results"] = {
        "by_file": {
            path: {
                "count": len(symbols),
                "top_symbols": [symbol for symbol in symbols if symbol][:MAX_SYMBOLS],
            }
            for path, symbols in files.items()
        }
    }
    result["confidence"] = _confidence(hits, query)
    result["query_understanding"] = {
        "intent": "find_definition" if query.is_symbol else "search_for_code",
        "detected_language": _language(asked, query),
        "detected_symbols": list(query.names[:MAX_SYMBOLS]),
        "search_strategy": result["search_strategy"],
    }


def _concepts(hits: Sequence[InfoHit], query: ParsedQuery) -> list[str]:
    """Return the words that most symbols and paths have and the request has not."""
    counts: Counter[str] = Counter()
    for hit in hits:
        path = hit["path"].rpartition(".")[0]
        counts.update({part for part in word_parts(f"{hit['symbol']} {path}") if terms(part)})
    return [word for word, _ in counts.most_common() if not query.terms.intersection(terms(word))][
        :MAX_CONCEPTS
    ]


def _confidence(hits: Sequence[InfoHit], query: ParsedQuery) -> Confidence:
    scores = [hit["score"] for hit in hits]
    names = {name.lower() for name in query.names}
    matches = sum(
        not names.isdisjoint(hit["symbol"].lower().replace("::", ".").split(".")) for hit in hits
    )
    average, top = (mean(scores), max(scores)) if scores else (0.0, 0.0)
    level = "none"
    if scores:
        level = "medium" if average > MEDIUM_SCORE else "low"
        level = "high" if top > HIGH_SCORE and matches else level
    return {
        "level": level,
        "score": round(average, 3),
        "top_score": top,
        "symbol_matches": matches,
    }


def _language(asked: SearchArguments, query: ParsedQuery) -> str | None:
    if asked.language:
        return asked.language.lower()
    return next((word for word in query.text.lower().split() if word in LANGUAGES), None)


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
