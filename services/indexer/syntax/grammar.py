"""The tree-sitter grammars and the queries that say what a definition and a reference is.

`queries/<language>.scm` holds the patterns of a language in tree-sitter's query syntax. Above the
line `; --- references` each pattern captures `@definition.<kind>` and its `@name` (and `@scope`
where the name of its class stands elsewhere); below it `@call`, `@import` and `@attached`: comments
and decorators that belong to the definition after them.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import cast

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree
from tree_sitter_language_pack import SupportedLanguage, get_language

QUERIES = Path(__file__).parent / "queries"
REFERENCES = "; --- references"
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)
# Languages whose grammar goes by another name.
GRAMMARS = {"less": "scss", "jsonc": "json"}

PARSE_SECONDS = 3.0  # a file of 1 MiB parses in about 0.1 s: beyond this it is a pathological one
# tree-sitter 0.26.0 frees the numbers of every Point it makes, and crashes: nothing here asks for a
# Point, and the callbacks, which are given one, wait for a sound version.
CALLBACKS_ARE_SOUND = version("tree-sitter") != "0.26.0"
READ_BYTES = 32_768  # what the parser is given at a time, and how often the clock is read
# Some grammars take minutes over text that no person wrote, so it is not parsed at all.
MAX_PARSED_BYTES = 2_097_152
# The HTML grammar takes 1.7 kB of memory a byte over pages with unclosed tags: 150 MB for 85 kB.
MAX_PARSED_HTML = 40_000
MAX_PARSED_LINE = 10_000  # characters: beyond this a line is data or minified
MAX_NESTING = 1_000  # brackets inside brackets; people's code has about ten
# A query over an ERROR node takes time quadratic in its children: 0.03 s at 5,000, a minute at
# 200,000. No code that a person would search looks so.
MAX_ERROR_CHILDREN = 5_000
MAX_ERRORS_LOOKED_AT = 50_000
# More ERROR nodes than one in so many lines means that this is not the language it says it is.
LINES_PER_ERROR = 4
FEW_ERRORS = 10


_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Grammar:
    """A language that can be parsed."""

    language: Language
    definitions: Query
    references: Query

    def find_definitions(self, tree: Tree) -> list[tuple[int, dict[str, list[Node]]]]:
        return QueryCursor(self.definitions).matches(tree.root_node)

    def find_references(self, tree: Tree) -> dict[str, list[Node]]:
        return QueryCursor(self.references).captures(tree.root_node)


def query_source(name: str) -> tuple[str, str]:
    """The patterns for definitions and for references of a language, inherited ones first."""
    text = (QUERIES / f"{name}.scm").read_text(encoding="utf-8")
    definitions, _, references = text.partition(REFERENCES)
    if match := _INHERITS.search(definitions):
        parent = query_source(match.group(1))
        definitions, references = parent[0] + definitions, parent[1] + references
    return definitions, references


@cache
def grammar(name: str) -> Grammar | None:
    """The grammar of a language; None where there is none or nothing is known about its nodes."""
    if not (QUERIES / f"{name}.scm").is_file():
        return None
    try:
        language = get_language(cast(SupportedLanguage, GRAMMARS.get(name, name)))
    except LookupError:
        return None
    definitions, references = query_source(name)
    return Grammar(language, Query(language, definitions), Query(language, references))


def is_parseable(text: str, rows: Sequence[str], language: str) -> bool:
    """Whether a text is of a shape that its parser gets through in reasonable time and memory."""
    most = MAX_PARSED_HTML if language == "html" else MAX_PARSED_BYTES
    if len(text) > most or max(map(len, rows)) > MAX_PARSED_LINE:
        return False
    if sum(map(text.count, _OPENING)) <= MAX_NESTING:
        return True
    changes = (sum(map(row.count, _OPENING)) - sum(map(row.count, _CLOSING)) for row in rows)
    return max(accumulate(changes)) <= MAX_NESTING


def parse(source: bytes, found: Grammar, seconds: float = PARSE_SECONDS) -> Tree | None:
    """The syntax tree; None where parsing takes too long or finds mostly errors."""
    tree: Tree | None
    if len(source) <= READ_BYTES or not CALLBACKS_ARE_SOUND:
        tree = Parser(found.language).parse(source)
    else:
        tree = _parse_until(source, found.language, time.perf_counter() + seconds)
    return tree if tree is not None and _sound(tree, source.count(b"\n")) else None


def _parse_until(source: bytes, language: Language, deadline: float) -> Tree | None:
    """Hands the text over in blocks; at the deadline it seems to end."""
    late = False

    def read(offset: int, _point: object) -> bytes:
        nonlocal late
        late = late or time.perf_counter() > deadline
        return b"" if late else source[offset : offset + READ_BYTES]

    tree = Parser(language).parse(read)
    return None if late else tree


def _sound(tree: Tree, lines: int) -> bool:
    """Whether the tree has few enough errors to be believed, and queried in reasonable time."""
    if not tree.root_node.has_error:
        return True
    allowed = max(FEW_ERRORS, lines // LINES_PER_ERROR)
    errors = looked_at = 0
    cursor = tree.walk()
    while looked_at < MAX_ERRORS_LOOKED_AT:
        looked_at += 1
        node = cast(Node, cursor.node)
        if node.is_error:
            errors += 1
            if errors > allowed or node.child_count > MAX_ERROR_CHILDREN:
                return False
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return True
    return False
