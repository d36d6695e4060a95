"""Tells which hits may turn out to mean the same definition, from their rank features alone."""

from collections import defaultdict
from collections.abc import Sequence

from ctx_indexer.schema.features import Features
from ctx_indexer.search.query import ParsedQuery
from ctx_indexer.search.ranking import Ranked


def uncertain_hits(selected: Sequence[Ranked], query: ParsedQuery) -> set[str]:
    """Return the ids of the hits that may be no definition of their own, or several.

    Every other hit is one result, so that results can be counted without reading all of them.
    """
    names = {name.lower() for name in query.names}
    files: dict[tuple[str, str], list[Ranked]] = defaultdict(list)
    for item in selected:
        files[item.candidate.file].append(item)
    return {
        item.candidate.id
        for items in files.values()
        for item in items
        if _has_name(item.candidate.features, names)
        or any(_may_be_one(item, other) for other in items if other is not item)
    }


def _has_name(chunk: Features, names: set[str]) -> bool:
    """Whether a name of the query may choose among the chunk's definitions."""
    return not names.isdisjoint(chunk.symbols | frozenset(_path(chunk)))


def _may_be_one(one: Ranked, other: Ranked) -> bool:
    """Whether both chunks are of one definition, or one defines what the other is a part of."""
    first, second = one.candidate.features, other.candidate.features
    if first.symbol_path == second.symbol_path:
        return bool(first.symbol_path)
    return _defines_whole(first, second) or _defines_whole(second, first)


def _defines_whole(chunk: Features, part: Features) -> bool:
    path = _path(part)
    return bool(path) and path[-1] in chunk.symbols


def _path(chunk: Features) -> list[str]:
    return [part for part in chunk.symbol_path.lower().split(".") if part]
