"""The definitions, comments and imports of a text with their lines, as each chunk stores them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctx_indexer.syntax.definitions import Definition
from ctx_indexer.syntax.outline import Outline

IMPORT, COMMENT = "import", "comment"
MAX_SPANS = 80  # of one chunk; a line of data can hold hundreds of keys


class DefinitionSpan(NamedTuple):
    """A definition and its lines, counted from 1, both ends included.

    `symbol` is qualified, and "" for a comment or imports; `def_line` is the line of the name.
    """

    symbol: str
    kind: str
    start_line: int
    end_line: int
    def_line: int

    @property
    def size(self) -> int:
        return self.end_line - self.start_line + 1


class SpanIndex:
    """Finds the spans of one outline that overlap some lines."""

    def __init__(self, outline: Outline) -> None:
        self._spans: list[DefinitionSpan] = []
        self._parents: list[int] = []
        self._add(outline.definitions)
        self._starts = [span.start_line for span in self._spans]
        references = outline.references
        imports = _blocks({reference.line for reference in references.imports})
        comments = _blocks({row + 1 for row in references.comment_rows})
        self._blocks = sorted(
            [DefinitionSpan("", IMPORT, first, last, first) for first, last in imports]
            + [DefinitionSpan("", COMMENT, first, last, first) for first, last in comments],
            key=lambda span: span.start_line,
        )
        self._block_ends = [span.end_line for span in self._blocks]

    def overlapping(self, start_line: int, end_line: int) -> tuple[DefinitionSpan, ...]:
        """Return the spans that overlap the lines: enclosing ones, ones that begin, blocks."""
        first = bisect_left(self._starts, start_line)
        enclosing = []
        at = first - 1
        while at >= 0:
            if self._spans[at].end_line >= start_line:
                enclosing.append(self._spans[at])
            at = self._parents[at]
        inside = self._spans[first : bisect_left(self._starts, end_line + 1)]
        blocks = []
        for block in self._blocks[bisect_left(self._block_ends, start_line) :]:
            if block.start_line > end_line:
                break
            blocks.append(block)
        return (*reversed(enclosing), *inside, *blocks)[:MAX_SPANS]

    def _add(self, outermost: Sequence[Definition]) -> None:
        pending = [(definition, -1) for definition in reversed(outermost)]
        while pending:
            definition, parent = pending.pop()
            number = len(self._spans)
            self._parents.append(parent)
            self._spans.append(
                DefinitionSpan(
                    definition.path,
                    definition.kind,
                    definition.start + 1,
                    definition.end + 1,
                    definition.head + 1,
                )
            )
            pending += [(child, number) for child in reversed(definition.children)]


def held_kinds(
    main: str, spans: Iterable[DefinitionSpan], start_line: int, end_line: int
) -> tuple[str, ...]:
    """Return the kinds of the spans that begin in a chunk, and of its main definition."""
    return tuple(
        sorted(
            {main, *(span.kind for span in spans if start_line <= span.start_line <= end_line)}
            | {span.kind for span in spans if span.kind in (IMPORT, COMMENT)}
        )
    )


def _blocks(lines: set[int]) -> list[tuple[int, int]]:
    """Join neighbouring lines to blocks of first and last line."""
    blocks: list[tuple[int, int]] = []
    for line in sorted(lines):
        if blocks and line == blocks[-1][1] + 1:
            blocks[-1] = (blocks[-1][0], line)
        else:
            blocks.append((line, line))
    return blocks
