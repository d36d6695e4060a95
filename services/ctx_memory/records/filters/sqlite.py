"""Conditions of metadata filters for SQLite's JSON functions.

Spellable paths are part of the SQL text, so that an index on the same expression serves them. Other
paths (quotes, other scripts, list positions) are walked step by step with every key bound, because
SQLite's own path syntax cannot name them all.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Text,
    and_,
    case,
    cast,
    column,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from ctx_memory.records.entry import MetadataFilter
from ctx_memory.records.filters.operators import COMPARISONS, Operator
from ctx_memory.records.filters.paths import Path, is_index, is_spellable
from ctx_memory.records.folding import fold
from ctx_memory.records.tables import entries

NUMBERS = ("integer", "real")
CONTAINERS = ("array", "object")
# Larger integers are not exact as floating point numbers, which SQLite makes of integers that need
# more than 64 bits.
EXACT_BELOW = 2**53

Condition = ColumnElement[bool]
Value = ColumnElement[Any]


@dataclass(frozen=True)
class _JsonValue:
    """SQL expressions of a JSON value: its type (NULL where it is missing) and itself.

    `compared` takes a number as JSON text and gives the sign of an exact comparison, or NULL.
    """

    type: ColumnElement[str]
    value: Value
    compared: Callable[[str], ColumnElement[int]]


def register_functions(dbapi_connection: Any) -> None:
    """Add the functions that conditions call to a connection, for the `connect` event."""
    for name, count, function in (("ctx_fold", 1, _fold), ("ctx_compare", 3, _compare)):
        dbapi_connection.create_function(name, count, function, deterministic=True)


def condition(given: MetadataFilter) -> Condition:
    """Return the condition of a filter whose operator is not a negated one."""
    path = tuple(given.path)
    if is_spellable(path):
        return _test(_value_at(path), given)
    return _walk(path, given)


def text_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on strings, which conditions on strings use too."""
    return func.lower(_extracted(path, document))


def value_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on numbers."""
    return _extracted(path, document)


def type_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on booleans."""
    return func.json_type(document, _json_path(path))


# --- values --------------------------------------------------------------------------------


def _extracted(path: Path, document: ColumnElement[Any]) -> Value:
    return func.json_extract(document, _json_path(path))


def _json_path(path: Path) -> ColumnElement[str]:
    """Return a path as SQL text, which is safe for spellable paths: nothing needs escaping."""
    return literal_column("'$" + "".join(f'."{step}"' for step in path) + "'", Text)


def _value_at(path: Path) -> _JsonValue:
    document = entries.c.metadata
    return _JsonValue(type_key(path, document), _extracted(path, document), _comparison(path))


def _comparison(path: Path) -> Callable[[str], ColumnElement[int]]:
    steps = json.dumps(path)
    return lambda number: func.ctx_compare(entries.c.metadata, steps, number)


def _walk(path: Path, given: MetadataFilter) -> Condition:
    """Test the value at a path by one join per step."""
    levels: list[FromClause] = []
    container: ColumnElement[Any] = entries.c.metadata
    for number, _ in enumerate(path):
        level = _elements(container, f"step{number}")
        levels.append(level)
        container = case((level.c.type.in_(CONTAINERS), level.c.value), else_="{}")
    last = levels[-1]
    keys = [cast(level.c.key, Text) == step for level, step in zip(levels, path, strict=True)]
    value = _JsonValue(last.c.type, last.c.value, _comparison(path))
    steps = select(literal(1)).select_from(*levels).correlate(entries)
    return steps.where(*keys, _test(value, given)).exists()


def _elements(container: ColumnElement[Any], name: str) -> FromClause:
    """Return one row per element; `value` of a number of more than 64 bits is approximate."""
    return func.json_each(container).table_valued(
        column("key"), column("value"), column("type", Text), name=name, joins_implicitly=True
    )


# --- tests of a value ----------------------------------------------------------------------


def _test(json_value: _JsonValue, given: MetadataFilter) -> Condition:
    value = given.value
    match Operator(given.operator):
        case Operator.EQ:
            return _among(json_value, [value], given.case_sensitive)
        case Operator.IN:
            return _among(json_value, value, given.case_sensitive)
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE as operator:
            return _compares(json_value, operator, value)
        case Operator.EXISTS | Operator.IS_NOT_NULL:
            return json_value.type != "null"
        case Operator.IS_NULL:
            return json_value.type == "null"
        case Operator.ARRAY_CONTAINS:
            return _has_element(json_value, value, given.case_sensitive)
        case operator:
            return _has_part(json_value, operator, value, given.case_sensitive)


def _among(json_value: _JsonValue, values: Sequence[Any], case_sensitive: bool) -> Condition:
    """Test for one of the values, which may differ in type: 1, true and "1" are not equal."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if _is_number(value)]
    small = [number for number in numbers if abs(number) < EXACT_BELOW]
    types = [{True: "true", False: "false", None: "null"}[v] for v in values if _is_constant(v)]
    tests = []
    if texts:
        guard = [] if all(map(_is_wordlike, texts)) else [json_value.type == "text"]
        tests.append(and_(*guard, _is_text(json_value.value, texts, case_sensitive)))
    if small:
        tests.append(and_(json_value.type.in_(NUMBERS), _one_of(json_value.value, small)))
    tests += [json_value.compared(json.dumps(n)) == 0 for n in numbers if abs(n) >= EXACT_BELOW]
    if types:
        tests.append(_one_of(json_value.type, types))
    return or_(*tests) if tests else false()


def _is_text(value: Value, texts: Sequence[str], case_sensitive: bool) -> Condition:
    """Test strings: ASCII by SQLite's lower(), which an index serves, others by our folding."""
    ascii_texts = [fold(text) for text in texts if text.isascii()]
    other = [text for text in texts if not text.isascii()]
    tests = []
    if ascii_texts:
        tests.append(_one_of(func.lower(value), ascii_texts))
    if other:
        tests.append(_one_of(func.ctx_fold(value), [fold(text) for text in other]))
    return and_(or_(*tests), _one_of(value, texts)) if case_sensitive else or_(*tests)


def _compares(json_value: _JsonValue, operator: Operator, number: float) -> Condition:
    if abs(number) >= EXACT_BELOW:
        return COMPARISONS[operator](json_value.compared(json.dumps(number)), 0)
    return and_(json_value.type.in_(NUMBERS), COMPARISONS[operator](json_value.value, number))


def _has_part(
    json_value: _JsonValue, operator: Operator, part: str, case_sensitive: bool
) -> Condition:
    """Test for a part of a string, by functions: LIKE would need escaping and folds case itself."""
    whole = json_value.value
    if not case_sensitive:
        whole = func.lower(whole) if part.isascii() else func.ctx_fold(whole)
        part = fold(part)
    tests = {
        Operator.CONTAINS: func.instr(whole, part) > 0,
        Operator.STARTS_WITH: func.substr(whole, 1, len(part)) == part,
        Operator.ENDS_WITH: func.substr(whole, -len(part)) == part,
    }
    is_text = json_value.type == "text"
    return and_(is_text, tests[operator]) if part else is_text


def _has_element(json_value: _JsonValue, value: Any, case_sensitive: bool) -> Condition:
    elements = case((json_value.type == "array", json_value.value), else_="[]")
    element = _elements(elements, "element")
    position = func.json_array(cast(element.c.key, Text))

    def compared(number: str) -> ColumnElement[int]:
        return func.ctx_compare(elements, position, number)

    test = _among(_JsonValue(element.c.type, element.c.value, compared), [value], case_sensitive)
    return select(literal(1)).select_from(element).where(test).exists()


def _one_of(left: Value, values: Sequence[Any]) -> Condition:
    return left == values[0] if len(values) == 1 else left.in_(values)


def _is_wordlike(value: str) -> bool:
    """Whether no number, constant or container equals it as SQL text, so that an index suffices.

    SQLite writes an infinite number as Inf.
    """
    return value[:1].isalpha() and value.lower() != "inf"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, bool)


# --- functions that SQL calls --------------------------------------------------------------


def _fold(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else value


def _compare(document: str, steps: str, number: str) -> int | None:
    """Compare the number at a path with another, both exactly as JSON writes them."""
    value = json.loads(document, parse_int=Decimal, parse_float=Decimal)
    for step in json.loads(steps):
        if isinstance(value, list) and is_index(step) and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    if not isinstance(value, Decimal):
        return None
    other = Decimal(number)
    return (value > other) - (value < other)
