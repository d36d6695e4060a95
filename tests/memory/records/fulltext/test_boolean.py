"""Boolean full-text queries on both databases."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.support.fulltext import ids, search
from tests.support.tables import fill, row

QUERIES: list[tuple[str, list[int]]] = [
    ("server AND crashed", [1]),
    ("server crashed", [1]),
    ("crashed OR panic", [1, 4]),
    ("server NOT crashed", [2, 5]),
    ("server AND NOT crashed", [2, 5]),
    ("(crashed OR panic) AND tests", [4]),
    ("crashed OR panic AND tests", [1, 4]),
    ('"server crashed" OR "tests passed"', [1, 4]),
    ("auth* OR panic", [3, 4]),
    ("NOT server", [3, 4, 6, 7]),
    ("NOT (server OR panic)", [3, 6, 7]),
    ("panic OR NOT server", [3, 4, 6, 7]),
    ("crashed OR NOT (server OR café)", [1, 3, 4, 7]),
    ("NOT NOT panic", [4]),
    ("NOT server NOT panic", [3, 6, 7]),
    ("server and crashed", [1]),  # in small letters it is a word, and a common one
]


async def test_operators(texts: AsyncConnection) -> None:
    for query, right in QUERIES:
        assert await ids(texts, query, "boolean") == right, query


MALFORMED = [
    ("panic AND", "something is missing at its end"),
    ("AND panic", "something is missing before AND"),
    ("(panic", "a parenthesis is not closed"),
    ("panic)", "a parenthesis is closed that was not opened"),
    ('"panic', "a quotation is not closed"),
    ("panic OR OR tests", "something is missing before OR"),
    ("()panic", "something is missing before )"),
    ("(" * 50 + "panic" + ")" * 50, "nested deeper"),
]


async def test_a_malformed_boolean_is_read_as_words(texts: AsyncConnection) -> None:
    for query, reason in MALFORMED:
        rows, [warning] = await search(texts, query, "boolean")
        assert [each["id"] for each in rows] == [4]
        assert "read as plain words" in warning
        assert reason in warning


WORDS = ("apple", "berry", "cherry", "dates")
TREES = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: (
        st.tuples(st.just("NOT"), inner)
        | st.tuples(inner, st.just("AND"), inner)
        | st.tuples(inner, st.just("OR"), inner)
    ),
    max_leaves=6,
)


def spelled(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(spelled, tree))})"


def holds(tree: Any, said: set[str]) -> bool:
    match tree:
        case str():
            return tree in said
        case ("NOT", part):
            return not holds(part, said)
        case (left, "AND", right):
            return holds(left, said) and holds(right, said)
        case (left, _, right):
            return holds(left, said) or holds(right, said)
    raise AssertionError(tree)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tree=TREES)
async def test_boolean_queries_mean_what_they_say(connection: AsyncConnection, tree: Any) -> None:
    said = [{word for bit, word in enumerate(WORDS) if n >> bit & 1} for n in range(16)]
    await fill(connection, [row(n, text=" ".join(sorted(said[n]))) for n in range(16)])
    try:
        right = [n for n in range(16) if holds(tree, said[n])]
        assert await ids(connection, spelled(tree), "boolean") == right
    finally:
        await connection.rollback()
