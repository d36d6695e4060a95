"""Finds search hits on disk: unchanged, moved, changed beyond recognition, or gone."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctx_core.blocking import DISK
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.lookup.texts import FileText, FileTexts
from ctx_indexer.schema.payload import ChunkPayload
from ctx_indexer.search.definition_choice import (
    choose_definitions,
    is_named,
    split_symbol,
)
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.searcher import SearchHit
from ctx_indexer.search.snippet import Rows
from ctx_indexer.syntax.definitions import flatten, kind_weight
from ctx_indexer.view.view import View


@dataclass(frozen=True)
class Located:
    """The lines of a definition; `changed` tells that its file differs from the index.

    `stale` says why the lines come from the index, not from the disk.
    """

    span: DefinitionSpan
    rows: Rows
    changed: bool = False
    stale: str | None = None


@dataclass(frozen=True)
class LocatedHits:
    """Hits with their definitions, and how many files differ from the index, or are gone.

    `unchecked` are the repos that have no checkout here.
    """

    hits: Sequence[tuple[SearchHit, Located]]
    changed: int
    gone: int
    unchecked: Sequence[str]


class HitLocator:
    """Finds the hits of a search in the checkouts of a view."""

    def __init__(self, texts: FileTexts) -> None:
        self._texts = texts

    async def locate(
        self,
        view: View,
        hits: Sequence[SearchHit],
        query: ParsedQuery,
        filters: SearchFilters,
        per_path: int,
    ) -> LocatedHits:
        """Find the definitions that hits mean, each once, and their lines on disk."""
        return await DISK.run(locate_hits, self._texts, view.roots, hits, query, filters, per_path)

    async def present(self, view: View, files: Sequence[tuple[str, str]]) -> int:
        """Count the files, by repo and path, that are not known to be gone."""
        return await DISK.run(_count_present, view.roots, files)


def locate_hits(
    texts: FileTexts,
    roots: Mapping[str, Path],
    hits: Sequence[SearchHit],
    query: ParsedQuery,
    filters: SearchFilters,
    per_path: int,
) -> LocatedHits:
    """Find the definitions that hits mean, at most `per_path` of a file. Blocks.

    The first of several hits of one definition is kept.
    """
    present = {repo: root for repo, root in roots.items() if root.is_dir()}
    found: dict[tuple[str, str, DefinitionSpan], tuple[SearchHit, Located]] = {}
    changed, gone = set(), set()
    for hit in hits:
        file = hit.chunk.repo, hit.chunk.path
        for span in choose_definitions(hit.chunk, query, filters):
            located = locate(texts, present, hit.chunk, span)
            if located is None:
                gone.add(file)
                break
            if located.changed:
                changed.add(file)
            found.setdefault((*file, located.span), (hit, located))
    unchecked = sorted({hit.chunk.repo for hit in hits} - present.keys())
    kept = []
    taken: Counter[tuple[str, str]] = Counter()
    for hit, located in _named_first(list(found.values()), query):
        file = hit.chunk.repo, hit.chunk.path
        taken[file] += 1
        if taken[file] <= per_path:
            kept.append((hit, located))
    return LocatedHits(kept, len(changed), len(gone), unchecked)


def _named_first(
    hits: Sequence[tuple[SearchHit, Located]], query: ParsedQuery
) -> list[tuple[SearchHit, Located]]:
    """Put the definitions that have the query as name first, and raise their scores to match."""
    if not query.is_symbol:
        return list(hits)
    name = ".".join(split_symbol(query.text))
    whole = [each for each in hits if each[1].span.symbol == name]
    named = [each for each in hits if is_named(each[1].span.symbol, name) and each not in whole]
    for group in (whole, named):
        group.sort(key=lambda each: kind_weight(each[1].span.kind))
    others = [each for each in hits if each not in whole and each not in named]
    ordered = [*whole, *named, *others]
    least = 0.0
    scored: list[tuple[SearchHit, Located]] = []
    for hit, place in reversed(ordered):
        least = max(least, hit.ranked.score)
        scored.append((replace(hit, ranked=hit.ranked._replace(score=least)), place))
    return scored[::-1]


def locate(
    texts: FileTexts, roots: Mapping[str, Path], chunk: ChunkPayload, span: DefinitionSpan
) -> Located | None:
    """Find a chunk's definition in its file; None where the file is gone. Blocks.

    A file of a repo without a checkout here is taken as it was indexed.
    """
    root = roots.get(chunk.repo)
    if root is None:
        return Located(span, _indexed_rows(chunk))
    file = texts.read_redacted(root, chunk.path)
    if file is None:
        return None
    if file.blob == chunk.blob:
        return Located(span, Rows(file.rows()))
    moved = _moved_definition(texts, root, chunk, span, file) or _moved_text(chunk, span, file)
    if moved is not None:
        return Located(moved, Rows(file.rows()), changed=True)
    reason = "the file changed and this part of it is not there any more"
    return Located(span, _indexed_rows(chunk), changed=True, stale=reason)


def _moved_definition(
    texts: FileTexts, root: Path, chunk: ChunkPayload, span: DefinitionSpan, file: FileText
) -> DefinitionSpan | None:
    """Find the definition of the same name and kind that is nearest to the indexed one."""
    if not span.symbol:
        return None
    definitions = flatten(texts.outline(root, chunk.path, file).definitions)
    same = [each for each in definitions if (each.path, each.kind) == (span.symbol, span.kind)]
    if not same:
        return None
    best = min(same, key=lambda each: abs(each.start + 1 - span.start_line))
    return span._replace(start_line=best.start + 1, end_line=best.end + 1, def_line=best.head + 1)


def _moved_text(chunk: ChunkPayload, span: DefinitionSpan, file: FileText) -> DefinitionSpan | None:
    """Find the span's own lines, word for word, at another place of the file."""
    if span.start_line < chunk.start_line or span.end_line > chunk.end_line:
        return None
    first = span.start_line - chunk.start_line
    lines = chunk.text.split("\n")[first : first + span.size]
    rows = file.rows()
    for at in range(len(rows) - len(lines) + 1):
        if rows[at] == lines[0] and rows[at : at + len(lines)] == lines:
            moved = at + 1 - span.start_line
            return span._replace(
                start_line=at + 1, end_line=span.end_line + moved, def_line=span.def_line + moved
            )
    return None


def _indexed_rows(chunk: ChunkPayload) -> Rows:
    return Rows(chunk.text.split("\n"), chunk.start_line)


def _count_present(roots: Mapping[str, Path], files: Sequence[tuple[str, str]]) -> int:
    """Count the files that exist; files of a repo without a checkout here count as existing."""
    checked = {repo: root for repo, root in roots.items() if root.is_dir()}
    return sum(repo not in checked or os.path.lexists(checked[repo] / path) for repo, path in files)
