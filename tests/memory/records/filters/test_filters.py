"""The sixteen operators against a reference in plain Python, row by row, on both databases."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ctx_memory.records.entry import Criteria, EntryKind, MetadataFilter
from ctx_memory.records.filters import parse_filters
from ctx_memory.records.filters.indexes import index_metadata
from ctx_memory.records.filters.operators import Operator, wrong_value
from ctx_memory.records.filters.paths import is_index
from tests.support.tables import bare_tables, dialect_of, fill, found, row

MISSING = object()

# Every shape that metadata takes: text in all cases and scripts, numbers of every size, the
# constants, containers, and nothing at all.
TEXTS = [
    *("active", "Active", "ACTIVE", "inactive", "activ", ""),
    *("éclair", "ÉCLAIR", "Eclair", "путь", "ПУТЬ", "Путь-2", "ΣΊΣΥΦΟΣ", "σίσυφος"),
    *("1", "5", "5.0", "true", "null", "[]", "100%", "100x", "under_score", "underXscore"),
    *("it's", 'quo"te', "back\\slash", "x" * 500, "x" * 499 + "y", "🎉 party"),
]
NUMBERS = [
    *(0, 1, -1, 5, 5.0, 5.5, 0.1, 0.30000000000000004, 0.3, -0.0, 1e-9, 1e23, 10**23, 1e30),
    *(10**30, 2**53, 2**53 + 1, 2**53 + 2.0, 2**62, float(2**62), 2**63 - 1, 2**63, -(2**63)),
    *(2**70, 2**70 + 1, -(2**70), 1.7976931348623157e308, 5e-324),
]
CONSTANTS = [True, False, None]
CONTAINERS = [
    *([], {}, [1], ["Active", 1, True, None], ["1", 5.0, "ПРИВЕТ"], [[1], {"a": 1}]),
    *([2**70, 0.1], [2**70 + 1], {"key": "Active"}, {"0": "Active"}, ["Active", ["deep"]]),
]
SHAPES: list[Any] = [*TEXTS, *NUMBERS, *CONSTANTS, *CONTAINERS, MISSING]


# --- the reference -------------------------------------------------------------------------


def reference(document: Any, filter_: MetadataFilter) -> bool:
    """What a filter means, said without SQL."""
    value, operand, strict = _at(document, filter_.path), filter_.value, filter_.case_sensitive
    is_text, whole, part = isinstance(value, str), _text(value, strict), _text(operand, strict)
    exists = value is not MISSING and value is not None
    return {
        "exists": lambda: exists,
        "not_exists": lambda: not exists,
        "is_null": lambda: value is None,
        "is_not_null": lambda: exists,
        "eq": lambda: _same(value, operand, strict),
        "ne": lambda: exists and not _same(value, operand, strict),
        "in": lambda: any(_same(value, each, strict) for each in operand),
        "not_in": lambda: exists and not any(_same(value, each, strict) for each in operand),
        "array_contains": lambda: (
            isinstance(value, list) and any(_same(each, operand, strict) for each in value)
        ),
        "gt": lambda: _kind(value) == "number" and _number(value) > _number(operand),
        "gte": lambda: _kind(value) == "number" and _number(value) >= _number(operand),
        "lt": lambda: _kind(value) == "number" and _number(value) < _number(operand),
        "lte": lambda: _kind(value) == "number" and _number(value) <= _number(operand),
        "contains": lambda: is_text and part in whole,
        "starts_with": lambda: is_text and whole.startswith(part),
        "ends_with": lambda: is_text and whole.endswith(part),
    }[filter_.operator]()


def _at(document: Any, path: Any) -> Any:
    for step in path:
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and is_index(step) and int(step) < len(document):
            document = document[int(step)]
        else:
            return MISSING
    return document


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _text(value: Any, strict: bool) -> str:
    text = value if isinstance(value, str) else ""
    return text if strict else text.casefold()


def _number(value: Any) -> Decimal:
    return Decimal(json.dumps(value))


def _same(value: Any, asked: Any, case_sensitive: bool) -> bool:
    if _kind(value) != _kind(asked):
        return False
    if _kind(value) == "number":
        return _number(value) == _number(asked)
    if isinstance(value, str) and not case_sensitive:
        return value.casefold() == str(asked).casefold()
    return bool(value == asked)


# --- the truth table -----------------------------------------------------------------------


@pytest.fixture
async def engine(records_url: str) -> AsyncIterator[AsyncEngine]:
    async with bare_tables(records_url) as opened:
        async with opened.begin() as connection:
            await index_metadata(connection, dialect_of(records_url), ["field"])
        yield opened


@pytest.fixture
async def connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    async with engine.connect() as opened:
        yield opened


def asked(operator: Operator) -> Iterator[Any]:
    """Every value that the operator takes."""
    lists = [
        *([], ["ACTIVE"], ["active", "ПУТЬ", 5], [None, True], [1, "1", 2**70]),
        *([10**23, "x" * 500, "nothing like it"], [False, 0, ""]),
    ]
    for value in [*SHAPES[:-1], *lists]:
        if not wrong_value(operator, value):
            yield value


PATHS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "field": lambda value: {"field": value},
    "outer.in-ner": lambda value: {"outer": {"in-ner": value, "field": "other"}},
    "list.1": lambda value: {"list": [0] if value is MISSING else [0, value]},
    "list.0.é": lambda value: {"list": [{"é": value}]},
    'od"d.1': lambda value: {'od"d': {"1": value, "x": 1}},
}


@pytest.mark.parametrize("operator", list(Operator))
async def test_truth_table(connection: AsyncConnection, operator: Operator) -> None:
    shaped = {
        path: {n: _without_missing(make(value)) for n, value in enumerate(SHAPES)}
        for path, make in PATHS.items()
    }
    for number, (path, documents) in enumerate(shaped.items()):
        rows = [row(n + 1, metadata=document) for n, document in documents.items()]
        await fill(connection, rows)
        for value in list(asked(operator))[:: 3 if number else 1]:
            for case_sensitive in (False, True):
                raw = {
                    "key": path,
                    "operator": operator.value,
                    "value": value,
                    "case_sensitive": case_sensitive,
                }
                [filter_], errors = parse_filters(None, [raw])
                assert errors == []
                answer = await found(connection, Criteria(EntryKind.THREAD, metadata=[filter_]))
                right = [n + 1 for n, document in documents.items() if reference(document, filter_)]
                got, expected = set(answer), set(right)
                wrong = {n: SHAPES[n - 1] for n in got ^ expected}
                assert wrong == {}, f"{raw} on {connection.dialect.name}"
        await connection.rollback()


def _without_missing(document: Any) -> Any:
    if isinstance(document, dict):
        return {k: _without_missing(v) for k, v in document.items() if v is not MISSING}
    if isinstance(document, list):
        return [_without_missing(each) for each in document]
    return document


# --- random filters ------------------------------------------------------------------------

# Letters whose full folding is one letter too, so that casefold() may be the reference.
LETTERS = st.sampled_from("aAbB1 %_'\"\\éÉжЖςσΣ.$[]{}")
WORDS = st.text(LETTERS, max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | WORDS
    | st.integers(-(2**70), 2**70)
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.5, 1.0, 2.0, float(2**53)])
)
KEYS = st.sampled_from(["a", "b", "B", "0", "1", "é", 'q"', "a.b", "c\\d", "$", "it's"])
DOCUMENTS = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


@st.composite
def filters(draw: st.DrawFn) -> MetadataFilter:
    operator = draw(st.sampled_from(list(Operator)))
    match operator:
        case Operator.IN | Operator.NOT_IN:
            value: Any = draw(st.lists(SCALARS, min_size=1, max_size=4))
        case Operator.CONTAINS | Operator.STARTS_WITH | Operator.ENDS_WITH:
            value = draw(WORDS)
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE:
            value = draw(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
        case Operator.EQ | Operator.NE | Operator.ARRAY_CONTAINS:
            value = draw(SCALARS)
        case _:
            value = None
    assert wrong_value(operator, value) is None
    path = draw(st.lists(KEYS, min_size=1, max_size=3))
    return MetadataFilter(path, operator, value, draw(st.booleans()))


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    documents=st.lists(DOCUMENTS, min_size=1, max_size=8),
    given_filters=st.lists(filters(), max_size=8),
)
async def test_random_filters_mean_what_the_reference_means(
    connection: AsyncConnection, documents: list[Any], given_filters: list[MetadataFilter]
) -> None:
    await fill(connection, [row(n, metadata=document) for n, document in enumerate(documents)])
    try:
        for each in given_filters:
            answer = await found(connection, Criteria(EntryKind.THREAD, metadata=[each]))
            right = [n for n, document in enumerate(documents) if reference(document, each)]
            assert answer == right, each
    finally:
        await connection.rollback()
