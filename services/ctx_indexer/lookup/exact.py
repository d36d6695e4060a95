"""Exact search: every line of the indexed files that holds a string or matches an expression."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_core.errors import TimedOut
from ctx_indexer.lookup.marks import Mark, Marker
from ctx_indexer.lookup.pattern import Pattern
from ctx_indexer.lookup.selection import IndexedFiles
from ctx_indexer.lookup.texts import FileText, FileTexts
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.syntax.outline import Outline
from ctx_indexer.view.view import View

MAX_LINE_CHARACTERS = 240  # shown of a line; a longer one is cut around its match
CUT = "…"
MAX_COUNTED = 100_000  # matching lines; beyond it a search says only that there are more
SECONDS = 20.0  # the most for one search: a repository of 100,000 files takes far less
FILES_PER_CLOCK = 64  # files read between two looks at the clock


@dataclass(frozen=True)
class Source:
    """The files of one checkout that a search looks at."""

    repo: str
    root: Path
    paths: Sequence[str]


@dataclass(frozen=True)
class MatchedLine:
    """A matching line, its number counted from 1, and its mark: a definition, a call, …."""

    line: int
    text: str
    mark: Mark


@dataclass(frozen=True)
class MatchedFile:
    """The matching lines of a file that a page shows, and the number of all in that file."""

    repo: str
    path: str
    count: int
    lines: Sequence[MatchedLine]


@dataclass(frozen=True)
class ExactResult:
    """A page of matching lines, and the true counts of all of them.

    With a role `lines` counts the lines of that role, `any_role` all that match.
    """

    files: Sequence[MatchedFile]
    lines: int
    matched_files: int
    searched_files: int
    shown: int
    unreadable: int = 0
    any_role: int = 0

    @property
    def capped(self) -> bool:
        return self.lines >= MAX_COUNTED


class ExactSearch:
    """Finds lines in the indexed files of a view."""

    def __init__(self, indexed: IndexedFiles, texts: FileTexts) -> None:
        self._indexed = indexed
        self._texts = texts

    async def find(
        self,
        view: View,
        pattern: Pattern,
        filters: SearchFilters,
        limit: int,
        offset: int,
        role: str | None = None,
        admits: Callable[[str], bool] | None = None,
    ) -> ExactResult:
        """Find every line that matches, of one role or any, in the paths that `admits` accepts.

        Raises InvalidInput for filters that are wrong.
        """
        sources = [
            Source(
                checkout.repo,
                checkout.root,
                paths if admits is None else [path for path in paths if admits(path)],
            )
            for checkout, paths in await self._indexed.selected(view, filters)
        ]
        return await DISK.run(exact_search, self._texts, sources, pattern, limit, offset, role)


def exact_search(
    texts: FileTexts,
    sources: Sequence[Source],
    pattern: Pattern,
    limit: int,
    offset: int = 0,
    role: str | None = None,
) -> ExactResult:
    """Search files in the order of their paths and show lines `offset` to `offset + limit`.

    With a role every file that matches is parsed, and only its lines of that role count. Blocks.
    Raises TimedOut after SECONDS.
    """
    deadline = time.monotonic() + SECONDS
    seen = shown = any_role = searched = unreadable = matched_files = 0
    files: list[MatchedFile] = []
    for source, path in _each_path(sources, deadline):
        file = texts.read(source.root, path)
        if file is None:
            unreadable += 1
            continue
        searched += 1
        visible, places = _places(texts, source, path, file, pattern)
        any_role += len(places)
        if places and role:
            outline = texts.outline(source.root, path, visible)
            marked = _matched_lines(outline, visible, places)
            places = [
                place for place, line in zip(places, marked, strict=True) if role in line.mark.roles
            ]
        if not places:
            continue
        matched_files += 1
        first = max(offset - seen, 0)
        page = places[first : first + limit - shown] if shown < limit else []
        seen += len(places)
        if page:
            shown += len(page)
            lines = _matched_lines(texts.outline(source.root, path, visible), visible, page)
            files.append(MatchedFile(source.repo, path, len(places), lines))
        if seen >= MAX_COUNTED:
            break
    return ExactResult(files, seen, matched_files, searched, shown, unreadable, any_role)


def _places(
    texts: FileTexts, source: Source, path: str, file: FileText, pattern: Pattern
) -> tuple[FileText, list[tuple[int, int]]]:
    """Return a file's text without secrets, and where its lines match."""
    places = list(pattern.line_matches(file.data))
    visible = texts.redacted(source.root, path, file) if places else file
    if visible.data is not file.data:
        places = list(pattern.line_matches(visible.data))
    return visible, places


def _each_path(sources: Sequence[Source], deadline: float) -> Iterator[tuple[Source, str]]:
    """Yield the paths of all sources. Raises TimedOut when the deadline has passed."""
    for source in sources:
        for number, path in enumerate(source.paths):
            if number % FILES_PER_CLOCK == 0 and time.monotonic() > deadline:
                raise TimedOut(
                    f"exact_search took longer than {SECONDS:.0f} s; narrow it with under, "
                    "path_glob or language"
                )
            yield source, path


def _matched_lines(
    outline: Outline, file: FileText, places: Sequence[tuple[int, int]]
) -> list[MatchedLine]:
    marker = Marker(outline)
    lines: list[MatchedLine] = []
    number, counted = 1, 0
    for start, match in places:
        number += file.data.count(b"\n", counted, start)
        counted = start
        end = file.data.find(b"\n", match)
        whole = file.data[start : end if end >= 0 else len(file.data)]
        text = whole.decode("utf-8", "replace")
        column = len(whole[: match - start].decode("utf-8", "replace"))
        mark = marker.mark(number, text, column)
        lines.append(MatchedLine(number, _shortened(text, column), mark))
    return lines


def _shortened(text: str, column: int) -> str:
    """Strip a line; cut a long one around the match."""
    if len(text.strip()) <= MAX_LINE_CHARACTERS:
        return text.strip()
    start = max(column - MAX_LINE_CHARACTERS // 3, 0)
    kept = text[start : start + MAX_LINE_CHARACTERS].strip()
    return f"{CUT if start else ''}{kept}{CUT if start + MAX_LINE_CHARACTERS < len(text) else ''}"
