"""Rank fusion, by hand."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_memory.search.retrievers import fuse

ids = st.lists(st.integers(1, 50), unique=True, max_size=30)


def test_what_both_find_comes_first() -> None:
    best, *rest = fuse([[1, 2, 3], [4, 2, 5]], k=60)
    assert best.id == 2
    assert best.ranks == (2, 2)
    assert best.score == pytest.approx(2 / 62)
    assert [(item.id, item.ranks) for item in rest] == [
        (4, (None, 1)),
        (1, (1, None)),
        (5, (None, 3)),
        (3, (3, None)),
    ]


def test_a_small_k_lets_the_first_place_win() -> None:
    rankings = [[1, 2], [3, 2]]
    assert fuse(rankings, k=1000)[0].id == 2
    assert fuse([[1, *range(10, 30), 2], [3, *range(30, 50), 2]], k=1)[0].id in (1, 3)


def test_one_ranking_keeps_its_order() -> None:
    assert [item.id for item in fuse([[7, 3, 5], []], k=60)] == [7, 3, 5]
    assert fuse([[], []], k=60) == []


@given(ids, ids, st.integers(1, 1000))
def test_every_id_once_and_scores_never_rise(first: list[int], second: list[int], k: int) -> None:
    fused = fuse([first, second], k)
    assert {item.id for item in fused} == {*first, *second}
    assert len(fused) == len({*first, *second})
    assert all(a.score >= b.score for a, b in pairwise(fused))
    for item in fused:
        assert item.ranks == tuple(
            ranking.index(item.id) + 1 if item.id in ranking else None
            for ranking in (first, second)
        )
