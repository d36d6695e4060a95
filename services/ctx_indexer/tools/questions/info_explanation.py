"""Explains the results of `info_request`: their files, words in common, and confidence."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_core.text.tokens import terms, word_parts
from ctx_indexer.languages.registry import LANGUAGES
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.tools.code_search import FoundCode
from ctx_indexer.tools.questions.relationships import Relationships
from ctx_indexer.tools.search_arguments import SearchArguments

MAX_LOCATIONS, MAX_CONCEPTS, MAX_SYMBOLS = 5, 10, 5
HIGH_SCORE, MEDIUM_SCORE = 0.8, 0.6


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
    """The intent, language and symbols that the request was taken for."""

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


def explain(result: InfoResult, asked: SearchArguments, found: FoundCode) -> None:
    """Add a summary, groups by file, confidence and the reading of the request to a result."""
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
        parts = word_parts(f"{hit['symbol']} {path}")
        counts.update([*dict.fromkeys(part for part in parts if terms(part))])
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
