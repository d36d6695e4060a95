"""Cuts an outlined source text into chunks along its definitions."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from ctx_indexer.chunking.definition_spans import DefinitionSpan, SpanIndex, held_kinds
from ctx_indexer.chunking.spans import DEFAULT_LIMITS, ChunkLimits, Span, build_spans
from ctx_indexer.languages.protocol import UNKNOWN
from ctx_indexer.languages.registry import language_named
from ctx_indexer.syntax.definitions import flatten
from ctx_indexer.syntax.lines import Lines
from ctx_indexer.syntax.outline import Outline
from ctx_indexer.syntax.references import Reference, references_within

MAX_LINE_CHUNKS = 8  # a line longer than this many chunks is data; its rest is dropped
TRUNCATION_MARK = " …"  # ends the text of a line whose rest was dropped


@dataclass(frozen=True)
class Chunk:
    """A span of a file that is found as one; lines are counted from 1, both ends included.

    `kind` is that of its main definition, `kinds` are those of all it holds.
    """

    start_line: int
    end_line: int
    text: str
    kind: str
    symbol: str
    symbol_path: str
    symbols: tuple[str, ...]
    imports: tuple[Reference, ...]
    calls: tuple[Reference, ...]
    def_line: int
    definitions: tuple[DefinitionSpan, ...] = ()
    kinds: tuple[str, ...] = ()
    is_test: bool = False  # a test inside a file that is none


def chunk(outline: Outline, limits: ChunkLimits = DEFAULT_LIMITS) -> list[Chunk]:
    """Cut a text into chunks: each line that is not blank is in exactly one.

    A line longer than a chunk may be becomes several chunks of that one line.
    """
    lines = outline.lines
    if not any(row.strip() for row in lines.rows):
        return []
    is_prose = outline.language == UNKNOWN or language_named(outline.language).titles is not None
    names = sorted((d.head, d.name) for d in flatten(outline.definitions))
    spans = SpanIndex(outline)
    chunks: list[Chunk] = []
    for span in build_spans(outline, limits, default_kind="text" if is_prose else "code"):
        chunks.extend(_span_chunks(span, outline, names, spans, limits.max_chars))
    return chunks


def _span_chunks(
    span: Span,
    outline: Outline,
    names: list[tuple[int, str]],
    spans: SpanIndex,
    max_chars: int,
) -> Iterator[Chunk]:
    """Yield the chunk of a span, or several where it is one line longer than a chunk may be."""
    start, end, definition = span.start, span.end, span.definition
    defined = names[bisect_left(names, (start, "")) : bisect_left(names, (end + 1, ""))]
    head = definition.head if definition and start <= definition.head <= end else start
    imports = references_within(outline.references.imports, start + 1, end + 1)
    calls = references_within(outline.references.calls, start + 1, end + 1)
    definitions = spans.overlapping(start + 1, end + 1)
    for text in _texts(outline.lines, start, end, max_chars):
        yield Chunk(
            start_line=start + 1,
            end_line=end + 1,
            text=text,
            kind=span.kind,
            symbol=definition.name if definition else "",
            symbol_path=definition.path if definition else "",
            symbols=tuple(dict.fromkeys(name for _, name in defined)),
            imports=imports,
            calls=calls,
            def_line=head + 1,
            definitions=definitions,
            kinds=held_kinds(span.kind, definitions, start + 1, end + 1),
            is_test=span.is_test,
        )


def _texts(lines: Lines, start: int, end: int, max_chars: int) -> Iterator[str]:
    if start < end or len(lines.rows[start]) <= max_chars:
        yield lines.text(start, end)
        return
    row = lines.rows[start]
    for number, offset in enumerate(range(0, len(row), max_chars), 1):
        part = row[offset : offset + max_chars]
        if number == MAX_LINE_CHUNKS and offset + max_chars < len(row):
            yield part + TRUNCATION_MARK
            return
        if part.strip():
            yield part
