"""Reciprocal rank fusion: several rankings become one, by places and not by scores."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fused:
    """An entry, its fused score, and its place (from 1) in each ranking; None where it is not."""

    id: int
    score: float
    ranks: tuple[int | None, ...]


def fuse(rankings: Sequence[Sequence[int]], k: int) -> list[Fused]:
    """Each ranking gives 1 / (k + place) to each of its ids; the best sum comes first.

    Equal sums go by the better place, then to the newer entry, so that pages never overlap.
    """
    places = [{id_: place for place, id_ in enumerate(ids, start=1)} for ids in rankings]
    every = {id_ for place in places for id_ in place}
    return sorted((_fused(id_, places, k) for id_ in every), key=_order)


def _fused(id_: int, places: Sequence[dict[int, int]], k: int) -> Fused:
    ranks = tuple(place.get(id_) for place in places)
    return Fused(id_, sum(1 / (k + rank) for rank in ranks if rank is not None), ranks)


def _order(item: Fused) -> tuple[float, int, int]:
    return -item.score, min(rank for rank in item.ranks if rank is not None), -item.id
