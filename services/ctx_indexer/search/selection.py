"""Selects the hits among ranked candidates: few of a file, none far below the best."""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from ctx_indexer.schema.features import Features
from ctx_indexer.search.query import ParsedQuery, is_code
from ctx_indexer.search.rules import Ranked
from ctx_indexer.search.weights import DEFAULT, Weights


def select(
    ranked: Sequence[Ranked], limit: int, per_path: int, weights: Weights = DEFAULT
) -> list[Ranked]:
    """Select the hits: each further chunk of a file counts less, and none past `per_path`."""
    files: dict[tuple[str, str], list[Ranked]] = defaultdict(list)
    for item in ranked:
        files[item.candidate.file].append(item)
    queue = [(*items[0].order, 0) for items in files.values()]
    heapq.heapify(queue)
    selected: list[Ranked] = []
    while queue and len(selected) < limit:
        negative_score, location, taken = heapq.heappop(queue)
        items = files[location[:2]]
        selected.append(items[taken]._replace(score=-negative_score))
        taken += 1
        if taken < min(per_path, len(items)):
            negative_score, following = items[taken].order
            heapq.heappush(queue, (negative_score * weights.repeat**taken, following, taken))
    return selected


def cut_off(selected: Sequence[Ranked], weights: Weights = DEFAULT) -> list[Ranked]:
    """Drop the hits whose score is far below the best one's."""
    least = weights.far_below * selected[0].score if selected else 0.0
    return [item for item in selected if item.score >= least]


def holding_code(selected: Sequence[Ranked], query: ParsedQuery) -> list[Ranked]:
    """Drop the hits without the constant, header or code that is the whole query.

    Where no hit holds it, it may be misspelt, and all stay.
    """
    if query.literals != (query.text,) or not is_code(query.text):
        return list(selected)
    return [item for item in selected if item.candidate.literals] or list(selected)


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
    """Whether both chunks are of one definition, or one is a part of the other's definition."""
    first, second = one.candidate.features, other.candidate.features
    if first.symbol_path == second.symbol_path:
        return bool(first.symbol_path)
    return _defines_whole(first, second) or _defines_whole(second, first)


def _defines_whole(chunk: Features, part: Features) -> bool:
    path = _path(part)
    return bool(path) and path[-1] in chunk.symbols


def _path(chunk: Features) -> list[str]:
    return [part for part in chunk.symbol_path.lower().split(".") if part]
