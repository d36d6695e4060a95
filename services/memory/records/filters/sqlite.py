"""Metadata filters in SQLite's JSON functions.

Usual paths are spelled out, so that an index on the same expression serves them; unusual ones
(quotes, other scripts, list positions) are walked step by step with every key bound, because
SQLite's own paths cannot name them all.
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

from services.memory.records.filters.case_folding import fold
from services.memory.records.filters.operators import COMPARISONS, Operator
from services.memory.records.filters.paths import Path, is_index, is_spellable
from services.memory.records.tables import entries
from services.memory.records.types import MetadataFilter

NUMBERS = ("integer", "real")
CONTAINERS = ("array", "object")
# Beyond this an integer is no longer exact as a floating point number, and SQLite makes those of
# integers that need more than 64 bits.
EXACT_BELOW = 2**53

Condition = ColumnElement[bool]
Value = ColumnElement[Any]


@dataclass(frozen=True)
class _Place:
    """A JSON value: its type by name (NULL where there is nothing), itself, and how it compares
    exactly with a number written out: below zero, zero, above zero, or NULL."""

    type: ColumnElement[str]
    value: Value
    compared: Callable[[str], ColumnElement[int]]


def register_functions(dbapi_connection: Any) -> None:
    """Give a connection what the conditions call; for SQLAlchemy's `connect` event."""
    for name, count, function in (("ctx_fold", 1, _fold), ("ctx_compare", 3, _compare)):
        dbapi_connection.create_function(name, count, function, deterministic=True)


def condition(wanted: MetadataFilter) -> Condition:
    """The filter as it stands, where its operator is no opposite."""
    path = tuple(wanted.path)
    if is_spellable(path):
        return _test(_spelled(path), wanted)
    return _walked(path, wanted)


def text_key(path: Path, document: ColumnElement[Any]) -> Value:
    """What an index for text is made of; conditions on text say the same."""
    return func.lower(_extracted(path, document))


def value_key(path: Path, document: ColumnElement[Any]) -> Value:
    """What an index for numbers is made of."""
    return _extracted(path, document)


def type_key(path: Path, document: ColumnElement[Any]) -> Value:
    """What an index for booleans is made of."""
    return func.json_type(document, _json_path(path))


# --- where the value is --------------------------------------------------------------------


def _extracted(path: Path, document: ColumnElement[Any]) -> Value:
    return func.json_extract(document, _json_path(path))


def _json_path(path: Path) -> ColumnElement[str]:
    """Spelled out, which `is_spellable` makes safe: no letter of it means anything to SQL."""
    return literal_column("'$" + "".join(f'."{step}"' for step in path) + "'", Text)


def _spelled(path: Path) -> _Place:
    document = entries.c.metadata
    return _Place(type_key(path, document), _extracted(path, document), _whole(path))


def _whole(path: Path) -> Callable[[str], ColumnElement[int]]:
    steps = json.dumps(path)
    return lambda number: func.ctx_compare(entries.c.metadata, steps, number)


def _walked(path: Path, wanted: MetadataFilter) -> Condition:
    """Whether walking along the path ends at a value that passes the test."""
    levels: list[FromClause] = []
    inside: ColumnElement[Any] = entries.c.metadata
    for number, _ in enumerate(path):
        level = _each(inside, f"step{number}")
        levels.append(level)
        inside = case((level.c.type.in_(CONTAINERS), level.c.value), else_="{}")
    last = levels[-1]
    named = [cast(level.c.key, Text) == step for level, step in zip(levels, path, strict=True)]
    place = _Place(last.c.type, last.c.value, _whole(path))
    steps = select(literal(1)).select_from(*levels).correlate(entries)
    return steps.where(*named, _test(place, wanted)).exists()


def _each(container: ColumnElement[Any], name: str) -> FromClause:
    """One row an element; `value` of a number that is too large for SQLite is about right only."""
    return func.json_each(container).table_valued(
        column("key"), column("value"), column("type", Text), name=name, joins_implicitly=True
    )


# --- what is asked of it -------------------------------------------------------------------


def _test(place: _Place, wanted: MetadataFilter) -> Condition:
    value = wanted.value
    match Operator(wanted.operator):
        case Operator.EQ:
            return _among(place, [value], wanted.case_sensitive)
        case Operator.IN:
            return _among(place, value, wanted.case_sensitive)
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE as operator:
            return _compares(place, operator, value)
        case Operator.EXISTS:
            return place.type.is_not(None)
        case Operator.IS_NULL:
            return place.type == "null"
        case Operator.IS_NOT_NULL:
            return place.type != "null"
        case Operator.ARRAY_CONTAINS:
            return _has_element(place, value, wanted.case_sensitive)
        case operator:
            return _has_part(place, operator, value, wanted.case_sensitive)


def _among(place: _Place, values: Sequence[Any], case_sensitive: bool) -> Condition:
    """Equal to one of the values, which are of different types perhaps: 1, true and "1" differ."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if _is_number(value)]
    small = [number for number in numbers if abs(number) < EXACT_BELOW]
    types = [{True: "true", False: "false", None: "null"}[v] for v in values if _is_constant(v)]
    found = []
    if texts:
        guard = [] if all(map(_is_wordlike, texts)) else [place.type == "text"]
        found.append(and_(*guard, _is_text(place.value, texts, case_sensitive)))
    if small:
        found.append(and_(place.type.in_(NUMBERS), _one_of(place.value, small)))
    found += [place.compared(_written(n)) == 0 for n in numbers if abs(n) >= EXACT_BELOW]
    if types:
        found.append(_one_of(place.type, types))
    return or_(*found) if found else false()


def _is_text(value: Value, texts: Sequence[str], case_sensitive: bool) -> Condition:
    """SQLite's lower() knows ASCII; it decides alone where the wanted text is ASCII."""
    ascii_texts = [fold(text) for text in texts if text.isascii()]
    other = [text for text in texts if not text.isascii()]
    found = []
    if ascii_texts:
        found.append(_one_of(func.lower(value), ascii_texts))
    if other:
        found.append(_one_of(func.ctx_fold(value), [fold(text) for text in other]))
    return and_(or_(*found), _one_of(value, texts)) if case_sensitive else or_(*found)


def _compares(place: _Place, operator: Operator, number: float) -> Condition:
    if abs(number) >= EXACT_BELOW:
        return COMPARISONS[operator](place.compared(_written(number)), 0)
    return and_(place.type.in_(NUMBERS), COMPARISONS[operator](place.value, number))


def _has_part(place: _Place, operator: Operator, part: str, case_sensitive: bool) -> Condition:
    """Functions instead of LIKE: nothing to escape, and no opinion of LIKE's on case."""
    whole = place.value
    if not case_sensitive:
        whole = func.lower(whole) if part.isascii() else func.ctx_fold(whole)
        part = fold(part)
    tests = {
        Operator.CONTAINS: func.instr(whole, part) > 0,
        Operator.STARTS_WITH: func.substr(whole, 1, len(part)) == part,
        Operator.ENDS_WITH: func.substr(whole, -len(part)) == part,
    }
    is_text = place.type == "text"
    return and_(is_text, tests[operator]) if part else is_text


def _has_element(place: _Place, value: Any, case_sensitive: bool) -> Condition:
    elements = case((place.type == "array", place.value), else_="[]")
    element = _each(elements, "element")
    position = func.json_array(cast(element.c.key, Text))

    def compared(number: str) -> ColumnElement[int]:
        return func.ctx_compare(elements, position, number)

    found = _among(_Place(element.c.type, element.c.value, compared), [value], case_sensitive)
    return select(literal(1)).select_from(element).where(found).exists()


def _one_of(left: Value, values: Sequence[Any]) -> Condition:
    return left == values[0] if len(values) == 1 else left.in_(values)


def _is_wordlike(value: str) -> bool:
    """Whether no number, constant or container looks like it in SQL: an index then answers alone,
    and nothing is read of the entry itself. SQLite shows a number without bounds as Inf."""
    return value[:1].isalpha() and value.lower() != "inf"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_constant(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _written(number: float) -> str:
    return json.dumps(number)


# --- the functions -------------------------------------------------------------------------


def _fold(value: Any) -> Any:
    return fold(value) if isinstance(value, str) else value


def _compare(document: str, steps: str, number: str) -> int | None:
    """The number at the path against another, both exactly as they are written in JSON."""
    found = json.loads(document, parse_int=Decimal, parse_float=Decimal)
    for step in json.loads(steps):
        if isinstance(found, list) and is_index(step) and int(step) < len(found):
            found = found[int(step)]
        elif isinstance(found, dict) and step in found:
            found = found[step]
        else:
            return None
    if not isinstance(found, Decimal):
        return None
    other = Decimal(number)
    return (found > other) - (found < other)
