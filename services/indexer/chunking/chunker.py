"""Cuts a source text into chunks along its definitions."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from services.indexer.chunking.spans import Sizes, Span, spans
from services.indexer.source.languages import UNKNOWN
from services.indexer.syntax.definitions import Definition, flatten, found_in, nest, tidy
from services.indexer.syntax.embedded_scripts import SCRIPTED, script_of
from services.indexer.syntax.grammar import PARSE_SECONDS, grammar, is_parseable, parse
from services.indexer.syntax.headings import HEADING_LANGUAGES, headings
from services.indexer.syntax.lines import Lines, normalise
from services.indexer.syntax.references import Reference, References, references_in, within

TARGET_CHARS = 1_500  # about 400 tokens: an embedding still tells one thing from another
MAX_CHARS = 3_000  # a function up to this stays whole
MIN_CHARS = 200  # what is smaller joins a neighbour
MAX_LINE_PIECES = 8  # a line longer than these many chunks is data; its rest is left out
CUT_MARK = " …"  # ends the text of a line whose rest was left out


@dataclass(frozen=True)
class ChunkLimits:
    """How large chunks are, in characters, and how long parsing a file may take."""

    target: int = TARGET_CHARS
    most: int = MAX_CHARS
    least: int = MIN_CHARS
    parse_seconds: float = PARSE_SECONDS


@dataclass(frozen=True)
class Chunk:
    """A stretch of a file that is found as one; lines are counted from 1, both ends included."""

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


def chunk(text: str, language: str, limits: ChunkLimits | None = None) -> list[Chunk]:
    """Every line that is not blank is in exactly one chunk.

    The one exception is a line longer than a chunk may be: it gives several, all on that line.
    """
    limits = limits or ChunkLimits()
    text = normalise(text)
    if not text.strip():
        return []
    lines = Lines.of(text)
    definitions, references = outline_of(text, language, lines, limits)
    sizes = Sizes(limits.target, limits.most, limits.least)
    plain = "text" if language == UNKNOWN or language in HEADING_LANGUAGES else "code"
    names = sorted((d.head, d.name) for d in flatten(definitions))
    result: list[Chunk] = []
    for span in spans(lines, definitions, references, sizes, plain):
        result.extend(_chunks(span, lines, names, references, limits.most))
    return result


def outline_of(
    text: str, language: str, lines: Lines, limits: ChunkLimits
) -> tuple[list[Definition], References]:
    """The definitions and references of a text; none where it cannot be parsed."""
    if language in HEADING_LANGUAGES:
        return headings(lines, language), References()
    if language in SCRIPTED:
        language, text = script_of(text, language)
        lines = Lines.of(text)
    found = grammar(language)
    if found is None or not is_parseable(text, lines.rows, language):
        return [], References()
    source = text.encode("utf-8", "replace")
    tree = parse(source, found, limits.parse_seconds)
    if tree is None:
        return [], References()
    starts = lines.byte_starts(source)
    named = found_in(tree, source, found, starts)
    defined = frozenset(item.name_byte for item in named)
    references = references_in(tree, source, found, starts, defined)
    definitions = nest(named)
    tidy(flatten(definitions), lines, references.attached)
    return definitions, references


def _chunks(
    span: Span, lines: Lines, names: list[tuple[int, str]], references: References, most: int
) -> Iterator[Chunk]:
    """One chunk, or several where a single line is longer than a chunk may be."""
    start, end = span.start, span.end
    main = span.main
    defined = names[bisect_left(names, (start, "")) : bisect_left(names, (end + 1, ""))]
    head = main.head if main and start <= main.head <= end else start
    imports = within(references.imports, start, end)
    calls = within(references.calls, start, end)
    for text in _texts(lines, start, end, most):
        yield Chunk(
            start_line=start + 1,
            end_line=end + 1,
            text=text,
            kind=span.kind,
            symbol=main.name if main else "",
            symbol_path=main.path if main else "",
            symbols=tuple(dict.fromkeys(name for _, name in defined)),
            imports=imports,
            calls=calls,
            def_line=head + 1,
        )


def _texts(lines: Lines, start: int, end: int, most: int) -> Iterator[str]:
    if start < end or len(lines.rows[start]) <= most:
        yield lines.text(start, end)
        return
    row = lines.rows[start]
    for number, at in enumerate(range(0, len(row), most), 1):
        part = row[at : at + most]
        if number == MAX_LINE_PIECES and at + most < len(row):
            yield part + CUT_MARK
            return
        if part.strip():
            yield part
