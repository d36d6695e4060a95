"""Which hits have to be read to know how many definitions there are."""

import pytest

from ctx_indexer.search.query import parse_query
from ctx_indexer.search.rules import Candidate, Ranked
from ctx_indexer.search.selection import uncertain_hits
from tests.indexer.search.test_ranking import candidate


def uncertain(query: str, *candidates: Candidate) -> set[str]:
    return uncertain_hits([Ranked(each, 1.0, {}) for each in candidates], parse_query(query))


def chunk(name: str, symbol_path: str, *symbols: str, path: str = "src/a.py") -> Candidate:
    return candidate(name, path=path, symbol_path=symbol_path, symbols=symbols)


def test_parts_of_one_definition_and_what_defines_the_whole() -> None:
    head = chunk("head", "Order", "order")
    tail = chunk("tail", "Order")
    method = chunk("method", "Order.cancel", "cancel")
    part = chunk("part", "Order.cancel.again")
    other = chunk("other", "Line", "line", "again")
    assert uncertain("some words", head, tail, method) == {"head", "tail"}
    assert uncertain("some words", method, part, other) == {"part", "other"}


@pytest.mark.parametrize(
    "beside", [chunk("b", "Order", path="src/b.py"), chunk("b", "Line", "line"), chunk("b", "")]
)
def test_other_hits_are_one_definition_each(beside: Candidate) -> None:
    assert uncertain("some words", chunk("a", "Order", "order"), beside) == set()


def test_a_name_in_the_query_may_mean_the_definition_around() -> None:
    around, inside = chunk("a", "Order.cancel", "cancel"), chunk("b", "Line", path="src/b.py")
    assert uncertain("who calls Order here", around, inside) == {"a"}
