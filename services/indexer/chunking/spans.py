"""From definitions to spans: what is small is joined, what is large is cut."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from services.indexer.syntax.definitions import TYPES, VALUES, Definition
from services.indexer.syntax.lines import Lines
from services.indexer.syntax.references import References

MAX_DEPTH = 12  # definitions nested deeper are cut by lines; also bounds the recursion


@dataclass(frozen=True, slots=True)
class Sizes:
    """In characters: what a chunk should have, may have, and must have to stand alone."""

    target: int
    most: int
    least: int

    @property
    def alone(self) -> int:
        """A definition of this size is not joined with another one."""
        return self.target // 2


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that stay together: a definition, or what lies between two."""

    start: int
    end: int
    size: int
    definition: Definition | None  # what it is, or for the lines between: what they lie in
    is_head: bool = False  # holds the header of a definition whose body is elsewhere
    is_whole: bool = False  # holds all of the definition


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of a chunk and what it is about."""

    start: int
    end: int
    kind: str
    main: Definition | None


def spans(
    lines: Lines,
    definitions: Sequence[Definition],
    references: References,
    sizes: Sizes,
    plain: str,
) -> list[Span]:
    """The chunks of a file, by their lines; together they hold every line that is not blank."""
    cutter = _Cutter(lines, definitions, references, sizes, plain)
    whole = Piece(0, len(lines.rows) - 1, 0, None)
    runs = cutter.runs(whole, definitions, 0)
    return [span for run in cutter.absorbed(runs) if (span := cutter.span(run))]


class _Cutter:
    """Cuts one file."""

    def __init__(
        self,
        lines: Lines,
        definitions: Sequence[Definition],
        references: References,
        sizes: Sizes,
        plain: str,
    ) -> None:
        self.lines = lines
        self.definitions = definitions
        self.ends = [definition.end for definition in definitions]
        self.references = references
        self.sizes = sizes
        self.plain = plain
        self.import_rows = frozenset(row for row, _ in references.imports)

    def runs(
        self, whole: Piece, definitions: Sequence[Definition], depth: int
    ) -> list[list[Piece]]:
        """Pieces grouped into chunks; a definition that is too large is cut in its turn."""
        result: list[list[Piece]] = []
        run: list[Piece] = []
        size = 0
        for piece in self.pieces(whole, definitions):
            if self.too_large(piece):
                if run:
                    result.append(run)
                run, size = [], 0
                result.extend(self.cut(piece, depth))
            elif run and not self.fits(run, size, piece):
                result.append(run)
                run, size = [piece], piece.size
            else:
                run.append(piece)
                size += piece.size
        return [*result, run] if run else result

    def pieces(self, whole: Piece, definitions: Sequence[Definition]) -> Iterator[Piece]:
        """The definitions of a stretch with their comments, and the lines between them."""
        at = whole.start
        head = whole.definition is not None
        for definition in definitions:
            if definition.end < at or not self.is_unit(definition):
                continue
            start = self.attached_start(definition.start, at)
            if start > at:
                yield from self.between(at, start - 1, whole.definition, head)
                head = False
            size = self.lines.size(start, definition.end)
            yield Piece(start, definition.end, size, definition, is_whole=True)
            at = definition.end + 1
        if at <= whole.end:
            yield from self.between(at, whole.end, whole.definition, head)

    def is_unit(self, definition: Definition) -> bool:
        """A small variable is a line among others."""
        if definition.kind not in VALUES:
            return True
        return self.lines.size(definition.start, definition.end) >= self.sizes.alone

    def attached_start(self, start: int, at: int) -> int:
        """Where the comments and decorators right above a definition begin."""
        start = max(start, at)
        while start > at and start - 1 in self.references.attached:
            start -= 1
        return start

    def between(
        self, start: int, end: int, owner: Definition | None, head: bool
    ) -> Iterator[Piece]:
        kept = self.lines.trim(start, end)
        if kept is None:
            return
        for first, last in self.lines.split(*kept, self.sizes.target, self.sizes.most):
            yield Piece(first, last, self.lines.size(first, last), owner, is_head=head)
            head = False

    def too_large(self, piece: Piece) -> bool:
        definition = piece.definition
        if not piece.is_whole or definition is None:
            return False
        divisible = definition.kind in TYPES or definition.kind in ("module", "heading")
        if divisible and any(self.is_unit(child) for child in definition.children):
            return piece.size > self.sizes.target
        return piece.size > self.sizes.most

    def cut(self, piece: Piece, depth: int) -> list[list[Piece]]:
        """A large definition: its header, and its parts."""
        inner = piece.definition.children if piece.definition and depth < MAX_DEPTH else []
        opened = Piece(piece.start, piece.end, piece.size, piece.definition, is_head=True)
        return self.absorbed(self.runs(opened, inner, depth + 1))

    def fits(self, run: list[Piece], size: int, piece: Piece) -> bool:
        """Whether a piece joins the run before it."""
        if size + piece.size > self.sizes.target:
            return False
        if not piece.is_whole:
            return True
        largest = max((p.size for p in run if p.is_whole), default=0)
        if largest >= self.sizes.alone or (largest and piece.size >= self.sizes.alone):
            return False
        # The head of a file or a class is a chunk of its own unless it is small.
        if run[0].is_head or not largest:
            return size < self.sizes.least
        return True

    def absorbed(self, runs: list[list[Piece]]) -> list[list[Piece]]:
        """Leftovers too small to stand alone, such as a closing bracket, join a neighbour."""
        result: list[list[Piece]] = []
        for run in runs:
            size = sum(piece.size for piece in run)
            before = sum(piece.size for piece in result[-1]) if result else 0
            tiny = size < self.sizes.least and not any(piece.is_whole for piece in run)
            tiny_before = before < self.sizes.least and result and not result[-1][0].is_whole
            if result and (tiny or tiny_before) and before + size <= self.sizes.most:
                result[-1] = result[-1] + run
            else:
                result.append(run)
        return result

    def span(self, run: list[Piece]) -> Span | None:
        kept = self.lines.trim(run[0].start, run[-1].end)
        if kept is None:
            return None
        start, end = kept
        main = self.main(run)
        if main is not None:
            return Span(start, end, main.kind, main)
        return self.loose(start, end)

    def main(self, run: list[Piece]) -> Definition | None:
        """What a chunk is about: the type whose header it holds, else its largest part."""
        for piece in run:
            if piece.is_head and piece.definition and piece.definition.kind != "heading":
                return piece.definition
        whole = [piece for piece in run if piece.is_whole]
        if whole:
            return max(whole, key=lambda piece: piece.size).definition
        return run[0].definition

    def loose(self, start: int, end: int) -> Span:
        """Lines outside any large definition: imports, variables, comments or statements."""
        after = self.definitions[bisect_left(self.ends, start) :]
        values = list(takewhile(lambda definition: definition.start <= end, after))
        sizes = [self.lines.size(max(d.start, start), min(d.end, end)) for d in values]
        total = self.lines.size(start, end)
        rows = range(start, end + 1)
        if any(row in self.import_rows for row in rows) and sum(sizes) * 2 < total:
            return Span(start, end, "import", None)
        if values:
            main = values[sizes.index(max(sizes))]
            return Span(start, end, main.kind, main)
        filled = [row for row in rows if self.lines.rows[row].strip()]
        if all(row in self.references.attached for row in filled):
            return Span(start, end, "comment", None)
        return Span(start, end, self.plain, None)
