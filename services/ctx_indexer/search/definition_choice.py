"""Chooses the definitions of a chunk that a query means."""

import re
from collections.abc import Sequence

from ctx_core.text.tokens import terms, word_list
from ctx_indexer.chunking.definition_spans import COMMENT, IMPORT, DefinitionSpan
from ctx_indexer.schema.payload import ChunkPayload
from ctx_indexer.search.filters import SearchFilters, included_kinds
from ctx_indexer.search.query import ParsedQuery, is_code, written_as
from ctx_indexer.syntax.definitions import VALUES

NAME_WEIGHT = 2  # of a query's term in a definition's own name, against one in its lines
_SEPARATORS = re.compile(r"::|[.#\\/]|->| > ")


def choose_definitions(
    chunk: ChunkPayload, query: ParsedQuery, filters: SearchFilters
) -> list[DefinitionSpan]:
    """Choose all that the filters or a query that is a name ask for, the best first.

    Otherwise one: by a name in the query, else by the query's terms. A chunk without a fitting
    definition is its own span.
    """
    spans = [span for span in chunk.definitions if _is_admitted(span, filters)]
    matched = _matched_terms(chunk, query.terms)
    if filters.kinds or filters.symbols:
        begun = [span for span in spans if span.start_line >= chunk.start_line] or spans
        ordered = sorted(begun, key=lambda span: -_weight(span, chunk, query, matched))
        return [_with_symbol(span, chunk) for span in ordered] or [_whole(chunk)]
    spans = [span for span in spans if span.kind not in (IMPORT, COMMENT)]
    if named := _named(spans, query):
        return named if query.is_symbol else [_best(named, chunk, query, matched)]
    spans = [span for span in spans if _is_own(span, chunk)]
    if not spans:
        return [_whole(chunk)]
    if holding := _around_code(spans, chunk, query):
        return [holding]
    best = _best(spans, chunk, query, matched)
    every = len(frozenset().union(*matched))
    if chunk.symbol_path or _weight(best, chunk, query, matched) >= every > 0:
        return [best]
    return [_whole(chunk)]


def is_named(symbol: str, name: str) -> bool:
    """Whether a qualified symbol has this plain or qualified name, in the same case."""
    parts = split_symbol(name)
    return bool(parts) and split_symbol(symbol)[-len(parts) :] == parts


def split_symbol(symbol: str) -> list[str]:
    """Split a qualified name: `Class.method`, `module::Type`, `Class#method`."""
    return [part for part in _SEPARATORS.split(symbol.removesuffix("()")) if part]


def _is_admitted(span: DefinitionSpan, filters: SearchFilters) -> bool:
    if filters.kinds and span.kind not in included_kinds(filters.kinds):
        return False
    if not filters.symbols:
        return True
    return any(is_named(span.symbol.lower(), name.lower()) for name in filters.symbols)


def _named(spans: Sequence[DefinitionSpan], query: ParsedQuery) -> list[DefinitionSpan]:
    """Return the definitions that the query names: the whole query first, then each name."""
    names = ([query.text] if query.is_symbol else []) + list(query.names)
    for name in names:
        if exact := [span for span in spans if is_named(span.symbol, name)]:
            return exact
    for name in names:
        lower = name.lower()
        if other := [span for span in spans if is_named(span.symbol.lower(), lower)]:
            return other
    return []


def _around_code(
    spans: Sequence[DefinitionSpan], chunk: ChunkPayload, query: ParsedQuery
) -> DefinitionSpan | None:
    """Return the innermost definition with a constant, header or error code of the query."""
    codes = [written_as(each) for each in query.literals if is_code(each)]
    rows = enumerate(chunk.text.split("\n") if codes else (), chunk.start_line)
    lines = [line for line, row in rows if any(code.search(row) for code in codes)]
    around = [
        span for span in spans if any(span.start_line <= line <= span.end_line for line in lines)
    ]
    return min(around, key=lambda span: span.size, default=None)


def _is_own(span: DefinitionSpan, chunk: ChunkPayload) -> bool:
    """Whether a definition begins in the chunk, or is the one that the chunk is a part of."""
    begins = chunk.start_line <= span.start_line <= chunk.end_line
    return begins or span.symbol == chunk.symbol_path


def _matched_terms(chunk: ChunkPayload, wanted: frozenset[str]) -> list[frozenset[str]]:
    """Return the query's terms in each line of a chunk."""
    return [
        frozenset(term for word in word_list(row) for term in terms(word)) & wanted
        for row in chunk.text.split("\n")
    ]


def _best(
    spans: Sequence[DefinitionSpan],
    chunk: ChunkPayload,
    query: ParsedQuery,
    matched: Sequence[frozenset[str]],
) -> DefinitionSpan:
    """Return the definition with the most terms; of equal ones the innermost, then the main one."""
    weights = {span: _weight(span, chunk, query, matched) for span in spans}
    most = max(weights.values())
    best = [span for span in spans if weights[span] == most]
    if most:
        best = [span for span in best if not any(_encloses(span, each) for each in best)]
    return max(
        best,
        key=lambda span: (
            span.kind not in VALUES,
            span.symbol == chunk.symbol_path,
            -span.start_line,
        ),
    )


def _encloses(outer: DefinitionSpan, inner: DefinitionSpan) -> bool:
    return (
        inner.size < outer.size
        and outer.start_line <= inner.start_line
        and inner.end_line <= outer.end_line
    )


def _weight(
    span: DefinitionSpan,
    chunk: ChunkPayload,
    query: ParsedQuery,
    matched: Sequence[frozenset[str]],
) -> int:
    first = max(span.start_line - chunk.start_line, 0)
    inside = matched[first : span.end_line - chunk.start_line + 1]
    parts = split_symbol(span.symbol)
    in_name = query.terms.intersection(terms(parts[-1])) if parts else frozenset()
    in_lines = frozenset().union(*inside) - in_name
    return NAME_WEIGHT * len(in_name) + len(in_lines)


def _with_symbol(span: DefinitionSpan, chunk: ChunkPayload) -> DefinitionSpan:
    """Name comments and imports by the definition that holds them."""
    if span.symbol:
        return span
    around = [
        each.symbol
        for each in chunk.definitions
        if each.symbol and each.start_line <= span.start_line <= each.end_line
    ]
    return span._replace(symbol=around[-1]) if around else span


def _whole(chunk: ChunkPayload) -> DefinitionSpan:
    return DefinitionSpan(
        chunk.symbol_path, chunk.kind, chunk.start_line, chunk.end_line, chunk.def_line
    )
