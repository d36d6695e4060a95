"""Reciprocal rank fusion: several rankings become one, by ranks and not by scores."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FusedEntry:
    """An entry, its fused score, and its rank from 1 in each ranking, None where absent."""

    id: int
    score: float
    ranks: tuple[int | None, ...]


def fuse(rankings: Sequence[Sequence[int]], k: int) -> list[FusedEntry]:
    """Fuse rankings of ids: each gives 1 / (k + rank) to each of its ids, the best sum is first.

    Equal sums go by the better rank, then to the newer entry, so that pages never overlap.
    """
    ranks = [{id_: rank for rank, id_ in enumerate(ids, start=1)} for ids in rankings]
    ids = {id_ for ranking in ranks for id_ in ranking}
    return sorted((_fused(id_, ranks, k) for id_ in ids), key=_sort_key)


def _fused(id_: int, rankings: Sequence[dict[int, int]], k: int) -> FusedEntry:
    ranks = tuple(ranking.get(id_) for ranking in rankings)
    return FusedEntry(id_, sum(1 / (k + rank) for rank in ranks if rank is not None), ranks)


def _sort_key(entry: FusedEntry) -> tuple[float, int, int]:
    return -entry.score, min(rank for rank in entry.ranks if rank is not None), -entry.id
