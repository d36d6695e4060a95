"""VectorStore on both engines: what filters select."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ctx_core.errors import InvalidInput
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import (
    AtLeast,
    Condition,
    DatetimeRange,
    Filter,
    HasId,
    Match,
    MatchAny,
)
from tests.support.vectors.samples import numbers, uid

pytestmark = pytest.mark.asyncio(loop_scope="module")

EAST_COAST = timezone(timedelta(hours=-5))
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
SELECTS: list[tuple[Condition, list[int]]] = [
    (Match("lang", "python"), [1, 3]),
    (Match("lang", "PYTHON"), []),
    (Match("n", 2), [2]),
    (Match("ratio", 1.5), [2]),
    (Match("test", True), [1, 3]),
    (Match("test", False), [2]),
    (Match("kind", "function"), [4]),
    (Match("calls[].name", "close"), [1]),
    (MatchAny("lang", ["rust", "go"]), [2, 3, 4]),
    (MatchAny("n", [1, 4, 99]), [1, 4]),
    (MatchAny("lang", []), []),
    (AtLeast("n", 3), [3, 4]),
    (AtLeast("ratio", 0.5), [1, 2]),
    (DatetimeRange("at", gte=NOON), [1, 2, 3]),
    (DatetimeRange("at", gte=NOON + timedelta(seconds=1)), [2, 3]),
    (DatetimeRange("at", lte=datetime(2024, 1, 2, 10, tzinfo=UTC)), [1, 2]),
    (
        DatetimeRange("at", lte=datetime(2024, 1, 2, 5, tzinfo=EAST_COAST)),
        [1, 2],
    ),
    (DatetimeRange("at", gte=NOON, lte=NOON), [1]),
    (HasId([uid(2), uid(4), uid(99)]), [2, 4]),
    (HasId([]), []),
]


@pytest.mark.parametrize(
    ("condition", "expected"), SELECTS, ids=[str(condition) for condition, _ in SELECTS]
)
async def test_condition_selects(
    store: VectorStore, filled: str, condition: Condition, expected: list[int]
) -> None:
    where = Filter(must=[condition])
    found, following = await store.scroll(filled, where=where)
    assert numbers(found) == expected
    assert following is None
    assert await store.count(filled, where) == len(expected)


@pytest.mark.parametrize(
    ("condition", "expected"), SELECTS, ids=[str(condition) for condition, _ in SELECTS]
)
async def test_must_not_selects_the_rest(
    store: VectorStore, filled: str, condition: Condition, expected: list[int]
) -> None:
    found, _ = await store.scroll(filled, where=Filter(must_not=[condition]))
    assert numbers(found) == [n for n in (1, 2, 3, 4) if n not in expected]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), [1, 2, 3, 4]),
        (Filter(must=[Match("lang", "python"), Match("lang", "go")]), [3]),
        (Filter(should=[Match("lang", "rust"), Match("n", 1)]), [1, 4]),
        (Filter(must=[Match("test", True)], should=[Match("n", 3), Match("n", 2)]), [3]),
        (Filter(must=[Match("lang", "python")], must_not=[Match("n", 3)]), [1]),
        (
            Filter(
                must=[
                    Filter(should=[Match("n", 1), Match("n", 2), Match("n", 4)]),
                    Filter(must_not=[Filter(must=[Match("lang", "go"), Match("n", 2)])]),
                ]
            ),
            [1, 4],
        ),
    ],
)
async def test_combinations(
    store: VectorStore, filled: str, where: Filter, expected: list[int]
) -> None:
    found, _ = await store.scroll(filled, where=where)
    assert numbers(found) == expected


@pytest.mark.parametrize(
    "condition",
    [
        DatetimeRange("at", gte=datetime(2024, 1, 1)),
        HasId(["not-a-uuid"]),
        MatchAny("lang", ["python", 3]),  # type: ignore[arg-type]
        Match("calls[.name", "open"),
    ],
    ids=str,
)
async def test_wrong_conditions_are_refused(
    store: VectorStore, filled: str, condition: Condition
) -> None:
    with pytest.raises(InvalidInput):
        await store.scroll(filled, where=Filter(must=[condition]))
