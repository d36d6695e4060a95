"""The result of `repo_search`: definitions with numbered lines, and its text for an agent."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctx_core.text.excerpts import MarkedText, highlights, mark_terms
from ctx_indexer.lookup.located import Located, LocatedHits
from ctx_indexer.schema.complexity import complexity
from ctx_indexer.schema.features import Features
from ctx_indexer.search.constants import constant_lines, fitting
from ctx_indexer.search.definition_choice import is_named, split_symbol
from ctx_indexer.search.query import ParsedQuery, is_code, written_as
from ctx_indexer.search.searcher import SearchHit, SearchResult
from ctx_indexer.search.snippet import best_line, snippet, token_estimate
from ctx_indexer.tools.responses import CodeHit, RepoSearchResult
from ctx_indexer.view.view import View

DIGITS = 3  # of a score: enough to tell hits apart
EXPLAINED_DIGITS = 4
DEFAULT_CONTEXT = 3  # the contract's; the text shows context only where another value is given
SNIPPET_CHARS = 4_300  # of all snippets: with their headings ten results are below 1,500 tokens
MAX_SNIPPET_CHARS = 2_400  # of one; about 50 lines
CODE_SNIPPET_CHARS = 700  # of one, around a constant, header or error code
MIN_SNIPPET_CHARS = 160  # of one: a signature and a line or two
CONSTANTS_SHARE = 6  # of a snippet's characters, beside it, for constants that it uses
MAX_MORE = 3  # other places of a file that are named
_OTHERS = re.compile(r"and (\d+) more")
MAX_HIGHLIGHT = 100  # characters of the one fragment that is shown unless scores are explained


@dataclass(frozen=True)
class Shown:
    """Which results of how many are shown, and how much of each.

    `context_lines` None: no snippet.
    """

    total: int
    limit: int
    offset: int
    context_lines: int | None
    highlights: bool
    explain: bool
    max_chars: int = MAX_SNIPPET_CHARS


def build_result(
    found: SearchResult,
    located: LocatedHits,
    terms: frozenset[str],
    shown: Shown,
    view: View,
) -> RepoSearchResult:
    """Build the result; the earlier a hit, the more of it is shown."""
    end = shown.offset + shown.limit
    kept = located.hits[shown.offset : end]
    more = dict(found.more)
    several = len({hit.chunk.repo for hit, _ in kept}) > 1
    hits = []
    for (hit, place), size in zip(kept, snippet_sizes(len(kept)), strict=True):
        max_chars = min(size, shown.max_chars)
        code_hit = _code_hit(hit, place, terms, shown, max_chars)
        code_hit["path"] = view.shown(hit.chunk.repo, hit.chunk.path)
        if several:
            code_hit["metadata"]["repo"] = hit.chunk.repo
        others = more.pop((hit.chunk.repo, hit.chunk.path), ())
        if names := _names(others, kept):
            code_hit["more_in_file"] = names
        hits.append(code_hit)
    result: RepoSearchResult = {
        "ok": True,
        "results": hits,
        "total": shown.total,
        "used_rerank": found.used_rerank,
        "search_time_ms": 0.0,
        "query": "",
    }
    if shown.offset:
        result["offset"] = shown.offset
    if found.left_out and shown.total <= end:
        result["left_out"] = f"{found.left_out} {found.left_out_for}"
    if shown.context_lines not in (None, DEFAULT_CONTEXT):
        result["context_lines"] = shown.context_lines or 0
    if found.degraded:
        result["degraded"] = list(found.degraded)
    if warnings := _warnings(located):
        result["warnings"] = warnings
    return result


def with_warnings(result: RepoSearchResult, warnings: Sequence[str]) -> RepoSearchResult:
    """Return the result with more warnings."""
    if warnings:
        result["warnings"] = [*result.get("warnings", []), *warnings]
    return result


def snippet_sizes(count: int) -> list[int]:
    """Divide the characters of all snippets: by the root of the rank, within bounds for one."""
    shares = [1 / (rank + 1) ** 0.5 for rank in range(count)]
    whole = SNIPPET_CHARS / sum(shares) if shares else 0
    return [int(min(max(whole * each, MIN_SNIPPET_CHARS), MAX_SNIPPET_CHARS)) for each in shares]


def _code_hit(
    hit: SearchHit, place: Located, terms: frozenset[str], shown: Shown, max_chars: int
) -> CodeHit:
    chunk, span = hit.chunk, place.span
    digits = EXPLAINED_DIGITS if shown.explain else DIGITS
    score = round(hit.score, digits)
    text, first_line = _matching_text(place, hit)
    marked = mark_terms(text, terms)
    code_hit: CodeHit = {
        "score": score,
        "path": chunk.path,
        "symbol": span.symbol,
        "start_line": span.start_line,
        "end_line": span.end_line,
        "components": {
            "dense_score": round(hit.ranked.candidate.dense, digits),
            "lexical_score": round(hit.ranked.candidate.lexical, digits),
            "reranker_score": round(hit.rerank.cross_encoder, digits) if hit.rerank else None,
            "final_score": score,
        },
        "metadata": {
            "language": chunk.language,
            "kind": span.kind,
            "complexity": complexity(text),
            "tokens": token_estimate(text) * span.size // max(text.count("\n") + 1, 1),
        },
    }
    if shown.explain:
        rules = {name: round(value, digits) for name, value in hit.ranked.rules.items()}
        code_hit["components"]["rules"] = rules
        code_hit["metadata"]["repo"] = chunk.repo
    if shown.context_lines is not None:
        focus = best_line(marked, first_line)
        code_hit["snippet"] = snippet(place.rows, span, focus, max_chars, shown.context_lines)
        own = snippet(place.rows, span, focus, max_chars)
        used = constant_lines(place.rows, own, span.start_line, span.end_line)
        if kept := fitting(used, max_chars // CONSTANTS_SHARE):
            code_hit["constants"] = kept
    if shown.highlights:
        code_hit["highlights"] = _highlights(marked, shown.explain)
    if place.stale:
        code_hit["stale"] = True
        code_hit["stale_reason"] = place.stale
    return code_hit


def _highlights(marked: MarkedText, explain: bool) -> list[str]:
    if explain:
        return highlights(marked)
    return [each for each in highlights(marked, 1) if len(each) <= MAX_HIGHLIGHT]


def _matching_text(place: Located, hit: SearchHit) -> tuple[str, int]:
    """Return the lines of a definition that its chunk holds, and the number of the first."""
    span, rows, chunk = place.span, place.rows, hit.chunk
    start, end = max(span.start_line, rows.first_line), min(span.end_line, rows.last_line)
    if not place.changed and chunk.start_line <= end and chunk.end_line >= start:
        start, end = max(start, chunk.start_line), min(end, chunk.end_line)
    lines = rows.rows[start - rows.first_line : end - rows.first_line + 1]
    return "\n".join(lines), start


def _names(others: Sequence[Features], kept: Sequence[tuple[SearchHit, Located]]) -> list[str]:
    """Name other places of a file, those with a symbol that no result has."""
    shown = {place.span.symbol for _, place in kept}
    names = [
        f"{each.symbol_path}:{each.location.line}"
        for each in others
        if each.symbol_path and each.symbol_path not in shown
    ]
    unique = list(dict.fromkeys(names))
    rest = len(unique) - MAX_MORE
    return [*unique[:MAX_MORE], f"and {rest} more"] if rest > 0 else unique


def most_chars(query: ParsedQuery, unheld: Sequence[str]) -> int:
    """Return how many characters of a hit are worth showing.

    Of a code, the lines around it; of a name that no hit holds, enough to see that.
    """
    if query.literals != (query.text,):
        return MAX_SNIPPET_CHARS
    if unheld:
        return MIN_SNIPPET_CHARS
    return CODE_SNIPPET_CHARS if is_code(query.text) else MAX_SNIPPET_CHARS


def unheld_names(query: ParsedQuery, hits: Sequence[tuple[SearchHit, Located]]) -> list[str]:
    """Say which names and codes of a query stand in none of its hits."""
    names = [each for each in query.literals if is_code(each) or not split_symbol(each)[1:]]
    unheld = [name for name in names if not any(_holds(name, *each) for each in hits)]
    if not hits or not unheld:
        return []
    return [f"none of these holds {', '.join(unheld)}; exact_search tells whether any file does"]


def _holds(name: str, hit: SearchHit, place: Located) -> bool:
    is_written = written_as(name).search(hit.chunk.text) is not None
    return is_written or is_named(place.span.symbol.lower(), name.lower())


def _warnings(located: LocatedHits) -> list[str]:
    """Say that the index is behind the disk, or that a repo could not be compared with it."""
    parts = []
    if located.changed:
        parts.append(f"{located.changed} of the files changed since they were indexed")
    if located.gone:
        parts.append(f"{located.gone} are gone and left out")
    warnings = []
    if parts:
        behind = " and ".join(parts)
        warnings.append(f"the index is behind: {behind}; qdrant_index brings it up to date")
    if located.unchecked:
        names = ", ".join(located.unchecked)
        warnings.append(f"{names}: no checkout on this machine; lines are those of the index")
    return warnings


# --- text ----------------------------------------------------------------------------------


def render_repo_search(result: Mapping[str, Any]) -> str:
    """Write a result as text: `path:start-end kind symbol`, then numbered lines.

    Of a file that has several results the first is shown, the others are named.
    """
    files: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for hit in result["results"]:
        files.setdefault((hit["metadata"].get("repo", ""), hit["path"]), []).append(hit)
    with_context = "context_lines" in result
    parts = [_file_text(hits, with_context) for hits in files.values()]
    end, total = result.get("offset", 0) + len(result["results"]), result["total"]
    if not parts:
        parts.append("Nothing found.")
    if total > end:
        parts.append(f"{total - end} more from offset={end}")
    if "left_out" in result:
        parts.append(f"left out: {result['left_out']}")
    return "\n".join([*parts, *result.get("degraded", []), *result.get("warnings", [])])


def _file_text(hits: Sequence[Mapping[str, Any]], with_context: bool) -> str:
    first, others = hits[0], hits[1:]
    lines = [_heading(first)]
    if "snippet" in first:
        lines += [*first.get("constants", ()), *_visible(first, with_context)]
    names = [f"{hit['symbol'] or hit['metadata'].get('kind', '')}:{_range(hit)}" for hit in others]
    names += [name for hit in hits for name in hit.get("more_in_file", ())]
    if names:
        lines.append(f"{_counted(names)} more in this file: {', '.join(names)}")
    return "\n".join(lines)


def _counted(names: Sequence[str]) -> int:
    """Count places: each name, and N for a name like `and N more`."""
    counts = [_OTHERS.fullmatch(name) for name in names]
    return sum(int(match.group(1)) if match else 1 for match in counts)


def _heading(hit: Mapping[str, Any]) -> str:
    repo = hit["metadata"].get("repo")
    where = f"{repo}: " if repo else ""
    named = " ".join(part for part in (hit["metadata"].get("kind"), hit["symbol"]) if part)
    stale = f" (stale: {hit['stale_reason']})" if hit.get("stale") else ""
    sure = f" [{hit['certainty']}, {hit['reason']}]" if "certainty" in hit else ""
    return f"{where}{hit['path']}:{_range(hit)} {named}{sure}{stale}"


def _range(hit: Mapping[str, Any]) -> str:
    return f"{hit['start_line']}-{hit['end_line']}"


def _visible(hit: Mapping[str, Any], with_context: bool) -> list[str]:
    """Return the lines of a snippet, those around the definition only where asked for."""
    lines: list[str] = hit["snippet"].split("\n")
    if with_context:
        return lines
    return [line for line in lines if _is_inside(line, hit)]


def _is_inside(line: str, hit: Mapping[str, Any]) -> bool:
    number = line.partition("\t")[0]
    return not number.isdigit() or hit["start_line"] <= int(number) <= hit["end_line"]
