"""The tree-sitter grammars, and the queries that find definitions and references.

`languages/<family>/queries/<language>.scm` holds the patterns of a language in tree-sitter's query
syntax. Above the line `; --- references` each pattern captures `@definition.<kind>` and its `@name`
(and `@scope` where the name of its class is another node); below it `@call`, `@import` and
`@attached`: comments and decorators that belong to the definition after them, and `@docstring`.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TypeVar, cast

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree
from tree_sitter_language_pack import SupportedLanguage, get_language

from ctx_indexer.languages.registry import definition_query, language_named
from ctx_indexer.syntax.repair import repairs

REFERENCES = "; --- references"
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)

# CPU seconds of the thread: a busy machine must not change the index.
PARSE_SECONDS = 3.0  # a file of 1 MiB parses in about 0.1 s: one that takes longer is pathological
TURN_SECONDS = 0.25  # seconds of wall time after which the parser's CPU time is compared
QUERY_SECONDS = 3.0  # the most that one query over a tree may take; most take less than parsing
# Some grammars take minutes over machine-made text: a text beyond these limits is not parsed.
MAX_PARSED_BYTES = 2_097_152
MAX_PARSED_LINE = 10_000  # characters: beyond this a line is data or minified
MAX_NESTING = 1_000  # brackets inside brackets; hand-written code has about ten
# A query over an ERROR node takes time quadratic in its children: 0.03 s at 5,000, a minute at
# 200,000. Code worth searching never has so many.
MAX_ERROR_CHILDREN = 5_000
MAX_NODES_CHECKED = 50_000
# More ERROR nodes than one per so many lines: the text is not of the language it claims.
LINES_PER_ERROR = 4
FEW_ERRORS = 10

_OPENING, _CLOSING = "([{", ")]}"
MICROSECONDS = 1_000_000
T = TypeVar("T")


@dataclass(frozen=True)
class Grammar:
    """A language with its queries."""

    language: Language
    definitions: Query
    references: Query

    def definition_matches(self, tree: Tree) -> list[tuple[int, dict[str, list[Node]]]]:
        """Find definitions; a query that takes too long gives its first matches. Blocks."""
        return queried(self.definitions, lambda cursor: cursor.matches(tree.root_node))

    def reference_captures(self, tree: Tree) -> dict[str, list[Node]]:
        """Find references; a query that takes too long gives its first captures. Blocks."""
        return queried(self.references, lambda cursor: cursor.captures(tree.root_node))


def queried(query: Query, run: Callable[[QueryCursor], T]) -> T:
    """Run a query until it ends or has computed for QUERY_SECONDS. Blocks.

    The library's deadline is one of wall time, so a query that had to wait is run again.
    """
    wall = QUERY_SECONDS
    while True:
        started, computed = time.monotonic(), time.thread_time()
        found = run(QueryCursor(query, timeout_micros=int(wall * MICROSECONDS)))
        waited = time.monotonic() - started >= wall
        if not waited or time.thread_time() - computed >= QUERY_SECONDS:
            return found
        wall *= 2


def query_source(name: str) -> tuple[str, str]:
    """Read a language's patterns for definitions and references, inherited ones first."""
    path = definition_query(name)
    text = path.read_text(encoding="utf-8") if path else ""
    definitions, _, references = text.partition(REFERENCES)
    if match := _INHERITS.search(definitions):
        parent = query_source(match.group(1))
        definitions, references = parent[0] + definitions, parent[1] + references
    return definitions, references


@cache
def grammar_of(name: str) -> Grammar | None:
    """Load the grammar of a language, once; None for a language without grammar or queries."""
    if definition_query(name) is None:
        return None
    try:
        loaded = get_language(cast(SupportedLanguage, name))
    except LookupError:
        return None
    definitions, references = query_source(name)
    return Grammar(loaded, Query(loaded, definitions), Query(loaded, references))


def is_parseable(text: str, rows: Sequence[str], name: str) -> bool:
    """Whether the parser takes reasonable time and memory over a text of this shape."""
    if len(text) > (language_named(name).max_parsed or MAX_PARSED_BYTES):
        return False
    if sum(map(text.count, _OPENING)) <= MAX_NESTING:
        return True
    changes = (sum(map(row.count, _OPENING)) - sum(map(row.count, _CLOSING)) for row in rows)
    return max(accumulate(changes)) <= MAX_NESTING


def parse(source: bytes, grammar: Grammar, name: str) -> Tree | None:
    """Parse a text; None where parsing takes too long or finds mostly errors. Blocks.

    A text with errors is parsed again without the parts that its language's repairs blank; a repair
    stays where it leaves fewer errors.
    """
    deadline = time.thread_time() + PARSE_SECONDS
    known = language_named(name)
    text = known.prepare(source) if known.prepare else source
    tree = _parsed(text, grammar, PARSE_SECONDS)
    if tree is None:
        return None
    if known.unwrap:
        text = known.unwrap(source, tree, lambda part: _is_sound(part, grammar, deadline))
        inner = _parsed(text, grammar, deadline - time.thread_time()) if text != source else None
        tree = inner or tree
    best, least = tree, _errors(tree)
    for fix in repairs(known) if least else ():
        text, before = fix(text, tree), text
        left = deadline - time.thread_time()
        mended = _parsed(text, grammar, left) if text != before and left > 0 else None
        errors = _errors(mended) if mended else MAX_NODES_CHECKED
        if mended is None or errors > _errors(tree):
            text = before
            continue
        tree = mended
        if errors < least:
            best, least = mended, errors
        if not least:
            break
    allowed = max(FEW_ERRORS, source.count(b"\n") // LINES_PER_ERROR)
    return best if least <= allowed else None


def _parsed(source: bytes, grammar: Grammar, seconds: float) -> Tree | None:
    # The text is passed as a whole: a tree that was parsed through a read callback leaks what the
    # callback returns at each query with a predicate. So the deadline is the parser's own, one of
    # wall time; a parser that had to wait goes on where it stopped.
    turn = max(min(seconds, TURN_SECONDS), 1 / MICROSECONDS)  # a timeout of 0 is no deadline
    parser = Parser(grammar.language, timeout_micros=int(turn * MICROSECONDS))
    deadline = time.thread_time() + seconds
    while True:
        try:
            return parser.parse(source)
        except ValueError:
            if time.thread_time() >= deadline:
                return None


def _is_sound(source: bytes, grammar: Grammar, deadline: float) -> bool:
    tree = _parsed(source, grammar, deadline - time.thread_time())
    return tree is not None and not tree.root_node.has_error


def _errors(tree: Tree) -> int:
    """Count the errors of a tree; MAX_NODES_CHECKED where a query of it would take too long."""
    if not tree.root_node.has_error:
        return 0
    errors = checked = 0
    cursor = tree.walk()
    while checked < MAX_NODES_CHECKED:
        checked += 1
        node = cast(Node, cursor.node)
        if node.is_error or node.is_missing:
            errors += 1
            if node.child_count > MAX_ERROR_CHILDREN:
                return MAX_NODES_CHECKED
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return errors
    return MAX_NODES_CHECKED
