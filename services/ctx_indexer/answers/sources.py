"""Sources: lines of a file that an answer may cite by their number."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.search.snippet import Rows

MAX_SNIPPET_LINES = 12  # of a citation: enough to recognise it; read_code has the rest
MAX_LINE = 200


@dataclass(frozen=True)
class Span:
    """Lines of a file that retrieval found, not yet numbered. `path` is as the caller knows it.

    `documented` are the lines of comments and docstrings, `focus` the line that fits the question
    best, `role` how it was found where that was not by the question.
    """

    repo: str
    path: str
    definition: DefinitionSpan
    rows: Rows
    relevance: float
    documented: frozenset[int] = frozenset()
    focus: int = 0
    role: str = ""
    is_prose: bool = False

    @property
    def first(self) -> int:
        return max(self.definition.start_line, self.rows.first_line)

    @property
    def last(self) -> int:
        return min(self.definition.end_line, self.rows.last_line)

    @property
    def text(self) -> str:
        return "\n".join(self.rows.line(n) for n in range(self.first, self.last + 1))


@dataclass(frozen=True)
class Source:
    """A span with its number, and the lines of it that fit into the budget."""

    number: int
    span: Span
    lines: tuple[int, ...]

    @property
    def text(self) -> str:
        """The lines, with a mark where some are left out."""
        parts: list[str] = []
        before = self.lines[0] - 1 if self.lines else 0
        for number in self.lines:
            if number != before + 1:
                parts.append("…")
            parts.append(self.span.rows.line(number)[:MAX_LINE])
            before = number
        return "\n".join(parts)

    @property
    def label(self) -> str:
        """Where it is: `path:first-last symbol`."""
        symbol = f" {self.span.definition.symbol}" if self.span.definition.symbol else ""
        return f"{self.span.path}:{self.span.first}-{self.span.last}{symbol}"


@dataclass(frozen=True)
class Citation:
    """A source as an answer cites it."""

    source: Source
    start_line: int
    end_line: int

    @property
    def snippet(self) -> str:
        """The first cited lines."""
        last = min(self.end_line, self.start_line + MAX_SNIPPET_LINES - 1)
        rows = self.source.span.rows
        lines = [rows.line(n)[:MAX_LINE] for n in range(self.start_line, last + 1)]
        return "\n".join([*lines, "…"] if last < self.end_line else lines)


@dataclass(frozen=True)
class Answer:
    """An answer, its citations, and the failures on the way.

    `dropped` counts sentences of a decoder that their source did not support.
    """

    text: str
    citations: Sequence[Citation]
    decoder: str
    context_tokens: int = 0
    milliseconds: int = 0
    dropped: int = 0
    degraded: Sequence[str] = field(default_factory=tuple)
    warnings: Sequence[str] = field(default_factory=tuple)
