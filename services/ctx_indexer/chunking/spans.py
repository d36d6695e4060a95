"""Spans: the lines of each chunk. Small neighbours are joined, large definitions are split."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ctx_indexer.syntax.definitions import TYPES, VALUES, Definition
from ctx_indexer.syntax.inline_tests import test_spans
from ctx_indexer.syntax.outline import Outline

TARGET_CHARS = 1_500  # about 400 tokens: an embedding still tells one topic from another
MAX_CHARS = 3_000  # a function up to this size stays whole
MIN_CHARS = 200  # smaller leftovers join a neighbour
MAX_DEPTH = 12  # definitions nested deeper are split by lines; also bounds the recursion


@dataclass(frozen=True)
class ChunkLimits:
    """The sizes of chunks, in characters."""

    target_chars: int = TARGET_CHARS
    max_chars: int = MAX_CHARS
    min_chars: int = MIN_CHARS

    @property
    def separate_chars(self) -> int:
        """The size from which a definition is not joined with another one."""
        return self.target_chars // 2


DEFAULT_LIMITS = ChunkLimits()


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that stay together: a definition, or lines between two definitions."""

    start: int
    end: int
    size: int
    definition: Definition | None  # the definition itself, or the one that encloses the lines
    is_head: bool = False  # holds the header of a definition whose body is in other pieces
    is_whole: bool = False  # holds the whole definition


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of a chunk, counted from 0, its kind and its main definition."""

    start: int
    end: int
    kind: str
    definition: Definition | None
    is_test: bool = False


def build_spans(outline: Outline, limits: ChunkLimits, default_kind: str) -> list[Span]:
    """Divide a text into spans that together hold every line that is not blank.

    `default_kind` is the kind of lines without definition, import or comment.
    """
    builder = SpanBuilder(outline, limits, default_kind)
    whole = Piece(0, len(outline.lines.rows) - 1, 0, None)
    groups = builder.groups(whole, outline.definitions, 0)
    return [span for group in builder.merge_leftovers(groups) if (span := builder.span(group))]


class SpanBuilder:
    """Builds the spans of one text: pieces, then groups of pieces, then spans."""

    def __init__(self, outline: Outline, limits: ChunkLimits, default_kind: str) -> None:
        self.lines = outline.lines
        self.definitions = outline.definitions
        self.ends = [definition.end for definition in outline.definitions]
        self.attached_rows = outline.references.attached_rows
        self.import_rows = frozenset(each.line - 1 for each in outline.references.imports)
        self.tests = test_spans(outline.definitions, outline.lines, outline.language)
        self.limits = limits
        self.default_kind = default_kind

    def groups(
        self, whole: Piece, definitions: Sequence[Definition], depth: int
    ) -> list[list[Piece]]:
        """Group the pieces of a stretch into chunks; a definition that is too large is split."""
        result: list[list[Piece]] = []
        group: list[Piece] = []
        size = 0
        for piece in self.pieces(whole, definitions):
            if self.too_large(piece):
                if group:
                    result.append(group)
                group, size = [], 0
                result.extend(self.split(piece, depth))
            elif group and not self.fits(group, size, piece):
                result.append(group)
                group, size = [piece], piece.size
            else:
                group.append(piece)
                size += piece.size
        return [*result, group] if group else result

    def pieces(self, whole: Piece, definitions: Sequence[Definition]) -> Iterator[Piece]:
        """Yield the definitions of a stretch with their comments, and the lines between them."""
        row = whole.start
        head = whole.definition is not None
        for definition in definitions:
            if definition.end < row or not self.is_unit(definition):
                continue
            start = self.attached_start(definition.start, row)
            if start > row:
                yield from self.between(row, start - 1, whole.definition, head)
                head = False
            size = self.lines.size(start, definition.end)
            yield Piece(start, definition.end, size, definition, is_whole=True)
            row = definition.end + 1
        if row <= whole.end:
            yield from self.between(row, whole.end, whole.definition, head)

    def is_unit(self, definition: Definition) -> bool:
        """Whether a definition is a piece of its own: small variables are not."""
        if definition.kind not in VALUES:
            return True
        return self.lines.size(definition.start, definition.end) >= self.limits.separate_chars

    def attached_start(self, start: int, first: int) -> int:
        """Return the first line of the comments and decorators right above a definition."""
        start = max(start, first)
        while start > first and start - 1 in self.attached_rows:
            start -= 1
        return start

    def between(
        self, start: int, end: int, enclosing: Definition | None, head: bool
    ) -> Iterator[Piece]:
        """Yield the pieces of lines between definitions; the first one may hold a header."""
        trimmed = self.lines.trim(start, end)
        if trimmed is None:
            return
        limits = self.limits
        for first, last in self.lines.split(*trimmed, limits.target_chars, limits.max_chars):
            yield Piece(first, last, self.lines.size(first, last), enclosing, is_head=head)
            head = False

    def too_large(self, piece: Piece) -> bool:
        """Whether a definition must be split; types with members are split from the target on."""
        definition = piece.definition
        if not piece.is_whole or definition is None:
            return False
        divisible = definition.kind in TYPES or definition.kind in ("module", "heading")
        if divisible and any(self.is_unit(child) for child in definition.children):
            return piece.size > self.limits.target_chars
        return piece.size > self.limits.max_chars

    def split(self, piece: Piece, depth: int) -> list[list[Piece]]:
        """Split a large definition into its header and its members."""
        members = piece.definition.children if piece.definition and depth < MAX_DEPTH else []
        opened = Piece(piece.start, piece.end, piece.size, piece.definition, is_head=True)
        return self.merge_leftovers(self.groups(opened, members, depth + 1))

    def fits(self, group: list[Piece], size: int, piece: Piece) -> bool:
        """Whether a piece joins the group before it; a test never joins the code that it tests."""
        if size + piece.size > self.limits.target_chars:
            return False
        if self.is_test(piece) != self.is_test(group[-1]):
            return False
        if not piece.is_whole:
            return True
        separate = self.limits.separate_chars
        largest = max((p.size for p in group if p.is_whole), default=0)
        if largest >= separate or (largest and piece.size >= separate):
            return False
        # The head of a file or a class is a chunk of its own unless it is small.
        if group[0].is_head or not largest:
            return size < self.limits.min_chars
        return True

    def is_test(self, piece: Piece) -> bool:
        """Whether a piece lies in a test; comments above it belong to it."""
        at = bisect_left(self.tests, (piece.end + 1, -1)) - 1
        return at >= 0 and piece.end <= self.tests[at][1]

    def merge_leftovers(self, groups: list[list[Piece]]) -> list[list[Piece]]:
        """Join groups too small to be a chunk, such as a closing bracket, with the one before."""
        min_chars, max_chars = self.limits.min_chars, self.limits.max_chars
        result: list[list[Piece]] = []
        for group in groups:
            size = sum(piece.size for piece in group)
            before = sum(piece.size for piece in result[-1]) if result else 0
            tiny = size < min_chars and not any(piece.is_whole for piece in group)
            tiny_before = before < min_chars and result and not result[-1][0].is_whole
            same = bool(result) and self.is_test(group[0]) == self.is_test(result[-1][-1])
            if same and (tiny or tiny_before) and before + size <= max_chars:
                result[-1] = result[-1] + group
            else:
                result.append(group)
        return result

    def span(self, group: list[Piece]) -> Span | None:
        """Build the span of a group; None where all its lines are blank."""
        trimmed = self.lines.trim(group[0].start, group[-1].end)
        if trimmed is None:
            return None
        start, end = trimmed
        main = self.main_definition(group)
        is_test = self.is_test(group[-1])
        if main is not None:
            return Span(start, end, main.kind, main, is_test)
        return replace(self.loose_span(start, end), is_test=is_test)

    def main_definition(self, group: list[Piece]) -> Definition | None:
        """Return the type whose header a group holds, else the largest definition in it."""
        for piece in group:
            if piece.is_head and piece.definition and piece.definition.kind != "heading":
                return piece.definition
        whole = [piece for piece in group if piece.is_whole]
        if whole:
            return max(whole, key=lambda piece: piece.size).definition
        return group[0].definition

    def loose_span(self, start: int, end: int) -> Span:
        """Build the span of lines outside large definitions: imports, variables, comments, code."""
        after = self.definitions[bisect_left(self.ends, start) :]
        values = list(takewhile(lambda definition: definition.start <= end, after))
        sizes = [self.lines.size(max(d.start, start), min(d.end, end)) for d in values]
        total = self.lines.size(start, end)
        rows = range(start, end + 1)
        if any(row in self.import_rows for row in rows) and sum(sizes) * 2 < total:
            return Span(start, end, "import", None)
        if values:
            largest = values[sizes.index(max(sizes))]
            return Span(start, end, largest.kind, largest)
        filled = [row for row in rows if self.lines.rows[row].strip()]
        if all(row in self.attached_rows for row in filled):
            return Span(start, end, "comment", None)
        return Span(start, end, self.default_kind, None)
