"""The outline of a source text: one parse that chunks and a symbol graph both read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctx_indexer.languages.registry import language_named
from ctx_indexer.syntax.definitions import (
    Definition,
    find_definitions,
    flatten,
    nest,
    trim_definitions,
)
from ctx_indexer.syntax.grammar import (
    MAX_PARSED_LINE,
    grammar_of,
    is_parseable,
    parse,
)
from ctx_indexer.syntax.headings import headings
from ctx_indexer.syntax.lines import Lines, normalise
from ctx_indexer.syntax.references import NO_REFERENCES, References, find_references
from ctx_indexer.syntax.repair import without_long_rows
from ctx_indexer.syntax.symbols.extract import extract_symbols
from ctx_indexer.syntax.symbols.table import SymbolTable

_NOT_NEWLINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a text, its nested definitions, and the names that it imports and calls.

    `symbols` is None unless it was asked for and the language has a query of symbols.
    """

    language: str
    lines: Lines
    definitions: Sequence[Definition] = ()
    references: References = NO_REFERENCES
    symbols: SymbolTable | None = None


def outline(text: str, language: str, *, with_symbols: bool = False) -> Outline:
    """Outline a text; without definitions and references where it cannot be parsed. Blocks."""
    text = normalise(text)
    lines = Lines.of(text)
    if titles := language_named(language).titles:
        return Outline(language, lines, headings(lines, titles(lines.rows)))
    parsed = _parse(text, language, lines, with_symbols=with_symbols)
    return Outline(language, lines, *parsed)


def _parse(
    text: str, language: str, lines: Lines, *, with_symbols: bool
) -> tuple[list[Definition], References, SymbolTable | None]:
    if scripts := language_named(language).scripts:
        language, text = scripts.language, _scripts_alone(text, scripts.spans(text))
        lines = Lines.of(text)
    grammar = grammar_of(language)
    if grammar is None or not is_parseable(text, lines.rows, language):
        return [], NO_REFERENCES, None
    source = text.encode("utf-8", "replace")
    short = without_long_rows(source, MAX_PARSED_LINE)
    tree = parse(short, grammar, language) if short is not None else None
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


def _scripts_alone(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Blank the markup around scripts; each script keeps its lines."""
    parts, at = [], 0
    for start, end in spans:
        parts += [_NOT_NEWLINE.sub("", text[at:start]), text[start:end]]
        at = end
    return "".join([*parts, _NOT_NEWLINE.sub("", text[at:])])
