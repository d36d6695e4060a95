"""The outline of a source text: one parse that chunks and a symbol graph both read."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctx_indexer.syntax.definitions import (
    Definition,
    find_definitions,
    flatten,
    nest,
    trim_definitions,
)
from ctx_indexer.syntax.embedded_scripts import SCRIPT_HOSTS, extract_script
from ctx_indexer.syntax.grammar import (
    MAX_PARSED_LINE,
    PARSE_SECONDS,
    grammar_of,
    is_parseable,
    parse,
)
from ctx_indexer.syntax.headings import HEADING_LANGUAGES, headings
from ctx_indexer.syntax.lines import Lines, normalise
from ctx_indexer.syntax.references import NO_REFERENCES, References, find_references
from ctx_indexer.syntax.repair import without_long_rows
from ctx_indexer.syntax.symbols.extract import extract_symbols
from ctx_indexer.syntax.symbols.table import SymbolTable


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a text, its nested definitions, and the names that it imports and calls.

    `symbols` is there where it was asked for and the language has a query of symbols.
    """

    language: str
    lines: Lines
    definitions: Sequence[Definition] = ()
    references: References = NO_REFERENCES
    symbols: SymbolTable | None = None


def outline(
    text: str, language: str, parse_seconds: float = PARSE_SECONDS, *, with_symbols: bool = False
) -> Outline:
    """Outline a text; without definitions and references where it cannot be parsed. Blocks."""
    text = normalise(text)
    lines = Lines.of(text)
    if language in HEADING_LANGUAGES:
        return Outline(language, lines, headings(lines, language))
    parsed = _parse(text, language, lines, parse_seconds, with_symbols=with_symbols)
    return Outline(language, lines, *parsed)


def _parse(
    text: str, language: str, lines: Lines, parse_seconds: float, *, with_symbols: bool
) -> tuple[list[Definition], References, SymbolTable | None]:
    if language in SCRIPT_HOSTS:
        language, text = extract_script(text, language)
        lines = Lines.of(text)
    grammar = grammar_of(language)
    if grammar is None or not is_parseable(text, lines.rows, language):
        return [], NO_REFERENCES, None
    source = text.encode("utf-8", "replace")
    short = without_long_rows(source, MAX_PARSED_LINE)
    tree = parse(short, grammar, language, parse_seconds) if short is not None else None
    if tree is None:
        return [], NO_REFERENCES, None
    line_starts = lines.byte_starts(source)
    captures = find_definitions(tree, source, grammar, line_starts)
    name_bytes = frozenset(capture.name_byte for capture in captures)
    references = find_references(tree, source, grammar, line_starts, name_bytes)
    definitions = nest(captures)
    attached, comments = references.attached_rows, references.comment_rows
    trim_definitions(flatten(definitions), lines, attached, comments)
    symbols = (
        extract_symbols(tree, source, grammar, language, line_starts) if with_symbols else None
    )
    return definitions, references, symbols
