"""The sentences of a source: its signature, and those of its comments and docstrings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ctx_indexer.answers.planted import addresses_model
from ctx_indexer.answers.sources import Source, Span
from ctx_indexer.search.definition_choice import split_symbol

MAX_SENTENCE = 260  # characters; a longer one is a list or a table
MAX_SIGNATURE = 120
MIN_WORDS = 3  # of a sentence: less is a marker or a heading
MAX_SIGNATURE_LINES = 12
# Comment signs of the languages that are indexed, at either end of a line.
_OPENING = re.compile(
    r"^\s*(?:[rRbBuUfF]{0,2}(?:\"\"\"|''')|/\*+!?|\*+/?|//+!?|#+[!:]?|--+|;+|%+|<!--|\{-\|?|\(\*)\s?"
)
_CLOSING = ('"""', "'''", "*/", "-->", "-}", "*)")
# Lines of a comment that are no prose: fields, examples, directives, rules, licences.
_NO_PROSE = re.compile(
    r"^\s*(?::(?!(?:\w+:)+`)\w+|[@\\]\w+|\.\. |>>>|\.\.\. |[-=~*#_^+]{3,}|\||noqa|type:|pylint"
    r"|eslint|fmt:|mypy|pragma|Args:|Returns:|Raises:|Parameters|Examples?:|Copyright|Licensed"
    r"|SPDX|All rights|TODO\b|XXX\b)",
    re.IGNORECASE,
)
_TRIPLE = ('"""', "'''")
_COMMENT = re.compile(r"\s(?:#|//).*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*:])")
_ROLE = re.compile(
    r":[a-z]{1,12}(?::[a-z]{1,12})?:`~?\.?([^`<]{1,100})(?:<[^`]{1,100}>)?`"
)  # :class:`~.Session` of reST
_DOUBLE_TICKS = re.compile(r"``([^`]+)``")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a source and its lines. `place` orders those of one source."""

    text: str
    first: int
    last: int


def sentences(source: Source) -> list[Sentence]:
    """Return the sentences of a source's comments, docstrings or prose, in their order.

    Sentences that address a model are left out.
    """
    span = source.span
    whole = range(span.first, span.last + 1)
    documented = span.documented | _strings(span)
    lines = [number for number in whole if span.is_prose or number in documented]
    found: dict[str, Sentence] = {}
    for block in _blocks(lines):
        for paragraph in _paragraphs(span, block):
            for sentence in _split(paragraph):
                found.setdefault(sentence.text, sentence)
    return [each for each in found.values() if not addresses_model(each.text)]


def _strings(span: Span) -> frozenset[int]:
    """Return the lines of texts in triple quotes that begin a line: they document an attribute."""
    found: set[int] = set()
    closing = ""
    for number in range(span.first, span.last + 1):
        line = span.rows.line(number).strip()
        if closing:
            found.add(number)
            closing = "" if closing in line else closing
        elif line[:3] in _TRIPLE:
            found.add(number)
            closing = "" if line[:3] in line[3:] else line[:3]
    return frozenset(found)


def signature(span: Span) -> str:
    """Return a definition's name as it is declared, qualified; "" where it has none."""
    definition = span.definition
    parts = split_symbol(definition.symbol)
    if not parts or span.is_prose:
        return definition.symbol
    declared = _declaration(span, parts[-1])
    whole = f"{definition.symbol}{declared}"
    return whole if declared and len(whole) <= MAX_SIGNATURE else definition.symbol


def _declaration(span: Span, name: str) -> str:
    """Return the text between the name and the body: parameters, results, a value."""
    start = max(span.definition.def_line, span.first)
    rows = [
        span.rows.line(n) for n in range(start, min(start + MAX_SIGNATURE_LINES, span.last + 1))
    ]
    text = " ".join(" ".join(_COMMENT.sub("", row) for row in rows).split())
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    if found is None:
        return ""
    rest = text[found.end() :]
    if rest.startswith("("):
        end = _closing(rest)
        result = re.match(r"\s*->\s*[^:{]{1,60}(?=[:{])", rest[end:])
        parameters = rest[:end].replace("( ", "(").replace(", )", ")").replace(" )", ")")
        return parameters + (result.group().rstrip() if result else "")
    value = re.match(r"\s*(?::[^=]{1,40})?=\s*\S[^#]{0,60}?(?=\s{1}|$)", rest)
    return value.group().rstrip() if value else ""


def _closing(text: str) -> int:
    """Return the offset after the bracket that closes the first one."""
    depth = 0
    for at, character in enumerate(text):
        depth += character in "([{"
        depth -= character in ")]}"
        if depth == 0:
            return at + 1
    return 0


def _blocks(lines: Sequence[int]) -> Iterator[list[int]]:
    for _, group in groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0]):
        yield [number for _, number in group]


def _paragraphs(span: Span, block: Sequence[int]) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of prose lines without comment signs."""
    paragraph: list[tuple[int, str]] = []
    field_indent: int | None = None
    for number in block:
        line = span.rows.line(number)
        indent = len(line) - len(line.lstrip())
        text = line.strip() if span.is_prose else _uncommented(line)
        if not text or _NO_PROSE.match(text) or addresses_model(text):
            if paragraph:
                yield paragraph
            paragraph = []
            field_indent = indent if text else None
        elif field_indent is None or indent <= field_indent:
            paragraph.append((number, text))
            field_indent = None
    if paragraph:
        yield paragraph


def _uncommented(line: str) -> str:
    """Return a line without the signs of a comment or docstring."""
    text = _OPENING.sub("", line).strip()
    for sign in _CLOSING:
        text = text.removesuffix(sign).rstrip("* " if sign == "*/" else " ")
    return text


def _split(paragraph: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    """Split a paragraph into sentences, each with the lines it stands on."""
    text, starts = "", []
    for number, line in paragraph:
        text = f"{text} {line}" if text else line
        starts.append((len(text) - len(line), number))
    position = 0
    for piece in _SENTENCE_END.split(text):
        at = text.index(piece, position)
        position = at + len(piece)
        first = max(number for start, number in starts if start <= at)
        last = max(number for start, number in starts if start < position)
        plain = _plain(piece)
        if len(plain.split()) >= MIN_WORDS and len(plain) <= MAX_SENTENCE:
            yield Sentence(plain, first, last)


def _plain(text: str) -> str:
    return _DOUBLE_TICKS.sub(
        r"`\1`", _ROLE.sub(lambda found: f"`{found[1].strip()}`", " ".join(text.split()))
    )
