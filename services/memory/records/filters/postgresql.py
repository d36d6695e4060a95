"""Metadata filters on PostgreSQL's jsonb, which compares numbers exactly and types apart."""

import json
import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Numeric,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    literal_column,
    or_,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, array
from sqlalchemy.ext.asyncio import AsyncConnection

from services.memory.records.filters.case_folding import RELICS
from services.memory.records.filters.operators import COMPARISONS, Operator
from services.memory.records.filters.paths import Path, is_index, is_spellable
from services.memory.records.tables import entries
from services.memory.records.types import MetadataFilter

log = logging.getLogger(__name__)

# How much of a text its index holds: an index entry must stay below 2,700 bytes.
INDEXED_LETTERS = 128
CASEFOLD_SINCE = 180_000  # server_version_num
# Where casefold() is not known, lower() in the first of these that the server has; with none of
# them the database's own, which may know ASCII only.
COLLATIONS = ("pg_c_utf8", "und-x-icu", "C.utf8", "C.UTF-8")
SHELTER = "\ue17f\ue18a"  # private letters, in whose shape the relics are not folded
LEAVES_BODY = f"""
ARRAY(
    SELECT DISTINCT left(
        CASE jsonb_typeof(leaf)
            WHEN 'string' THEN 's' || ctx_fold(leaf #>> '{{}}')
            WHEN 'number' THEN 'n' || trim_scale(CAST(leaf #>> '{{}}' AS numeric))
            ELSE leaf #>> '{{}}'
        END, {INDEXED_LETTERS})
    FROM jsonb_path_query(document, 'strict $.**') AS leaf
    WHERE jsonb_typeof(leaf) IN ('string', 'number', 'boolean')
)
"""

Condition = ColumnElement[bool]
Value = ColumnElement[Any]


async def ensure_functions(connection: AsyncConnection) -> None:
    """Create what conditions and indexes call. What is there stays: indexes were built with it."""
    if not await _is_there(connection, "ctx_fold(text)"):
        await _create(connection, "ctx_fold(letters text)", "text", await _folding(connection))
    if not await _is_there(connection, "ctx_leaves(jsonb)"):
        await _create(connection, "ctx_leaves(document jsonb)", "text[]", LEAVES_BODY)


async def _is_there(connection: AsyncConnection, signature: str) -> bool:
    found = text("SELECT to_regprocedure(:signature) IS NOT NULL")
    return bool(await connection.scalar(found, {"signature": signature}))


async def _create(connection: AsyncConnection, signature: str, returns: str, body: str) -> None:
    await connection.exec_driver_sql(
        f"CREATE FUNCTION {signature} RETURNS {returns} "
        f"LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {body}"
    )


async def _folding(connection: AsyncConnection) -> str:
    sheltered = f"translate(letters, '{RELICS}', '{SHELTER}')"
    version = await connection.scalar(text("SELECT current_setting('server_version_num')"))
    if int(str(version)) >= CASEFOLD_SINCE:
        return f'casefold({sheltered} COLLATE "pg_c_utf8")'
    rows = await connection.execute(text("SELECT collname FROM pg_collation"))
    there = set(rows.scalars())
    chosen = next((f'COLLATE "{name}"' for name in COLLATIONS if name in there), "")
    if not chosen:
        log.warning("this PostgreSQL has no collation for all letters: the database's decides case")
    # The final sigma, which lower() leaves, is a sigma too.
    return f"translate(lower({sheltered} {chosen}), '\u03c2', '\u03c3')"


def condition(wanted: MetadataFilter) -> Condition:
    """The filter as it stands, where its operator is no opposite."""
    path, value = tuple(wanted.path), wanted.value
    place = _place(path, entries.c.metadata)
    match Operator(wanted.operator):
        case Operator.EQ:
            return and_(_among(path, [value], wanted.case_sensitive), *_leaf(path, [value], 2))
        case Operator.IN:
            return and_(_among(path, value, wanted.case_sensitive), *_leaf(path, value, 2))
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE as operator:
            return COMPARISONS[operator](number_key(path, entries.c.metadata), _jsonb(value))
        case Operator.EXISTS:
            return place.is_not(None)
        case Operator.IS_NULL:
            return _type(place) == "null"
        case Operator.IS_NOT_NULL:
            return _type(place) != "null"
        case Operator.ARRAY_CONTAINS:
            return and_(_has_element(place, value, wanted.case_sensitive), *_leaf(path, [value], 1))
        case operator:
            return _has_part(path, operator, value, wanted.case_sensitive)


# --- what indexes are made of --------------------------------------------------------------


# Each holds one type: another may be too large for an index entry, and a condition of its own on
# the type would mislead the planner, which knows nothing of how many values have it.


def text_key(path: Path, document: ColumnElement[Any]) -> Value:
    start = func.left(_fold(_text(path, document)), literal_column(str(INDEXED_LETTERS)))
    return _of_type("string", path, document, start)


def number_key(path: Path, document: ColumnElement[Any]) -> Value:
    return _of_type("number", path, document, _place(path, document))


def boolean_key(path: Path, document: ColumnElement[Any]) -> Value:
    return _of_type("boolean", path, document, _place(path, document))


def _of_type(name: str, path: Path, document: ColumnElement[Any], key: Value) -> Value:
    return case((_type(_place(path, document)) == _spelled(name), key))


def leaves_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Everything that is said anywhere inside a value, for a GIN index."""
    return func.ctx_leaves(_place(path, document), type_=ARRAY(Text))


# --- where the value is --------------------------------------------------------------------


def _place(path: Path, document: ColumnElement[Any]) -> Value:
    """`->` takes a text for a key only, and never for the last but one element of a list."""
    for step in path:
        operator = "#>" if is_index(step) else "->"
        document = document.op(operator, precedence=15, return_type=JSONB())(_step(step, path))
    return document


def _text(path: Path, document: ColumnElement[Any]) -> Value:
    """A text's letters; of another type, how JSON writes it."""
    operator = "#>>" if is_index(path[-1]) else "->>"
    outside = _place(path[:-1], document)
    return outside.op(operator, precedence=15, return_type=Text())(_step(path[-1], path))


def _step(step: str, path: Path) -> ColumnElement[Any]:
    """Spelled out where an index may be on it, which `is_spellable` makes safe; else bound."""
    if is_index(step):
        return cast(literal("{" + step + "}", Text), ARRAY(Text))
    return _spelled(step) if is_spellable(path) else literal(step, Text)


def _spelled(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", Text)


def _type(place: Value) -> ColumnElement[str]:
    return func.jsonb_typeof(place, type_=Text)


def _fold(value: Value) -> ColumnElement[str]:
    return func.ctx_fold(value, type_=Text)


def _jsonb(value: Any) -> Value:
    return cast(literal(json.dumps(value, ensure_ascii=False), Text), JSONB)


# --- what is asked of it -------------------------------------------------------------------


def _among(path: Path, values: Sequence[Any], case_sensitive: bool) -> Condition:
    """Equal to one of the values, which are of different types perhaps: 1, true and "1" differ."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    constants = [value for value in values if value is None or isinstance(value, bool)]
    document = entries.c.metadata
    place = _place(path, document)
    found = []
    if texts:
        found.append(_is_text(path, texts, case_sensitive))
    if numbers:
        found.append(_one_of(number_key(path, document), [_jsonb(each) for each in numbers]))
    if booleans := [value for value in constants if value is not None]:
        found.append(_one_of(boolean_key(path, document), [_jsonb(each) for each in booleans]))
    if None in constants:
        found.append(_type(place) == "null")
    return or_(*found) if found else false()


def _is_text(path: Path, texts: Sequence[str], case_sensitive: bool) -> Condition:
    """By what the index holds, and by the whole where that is not all."""
    document = entries.c.metadata
    whole = _text(path, document)
    folded = [_fold(literal(each, Text)) for each in texts]
    starts = [func.left(each, literal_column(str(INDEXED_LETTERS))) for each in folded]
    found = [_one_of(text_key(path, document), starts)]
    if case_sensitive:
        found.append(_one_of(whole, texts))
    elif any(len(each) * 2 > INDEXED_LETTERS for each in texts):
        found.append(_one_of(_fold(whole), folded))
    return and_(*found)


def _has_part(path: Path, operator: Operator, part: str, case_sensitive: bool) -> Condition:
    """Functions instead of LIKE: nothing to escape."""
    whole = _text(path, entries.c.metadata)
    wanted: ColumnElement[str] = literal(part, Text)
    if not case_sensitive:
        whole, wanted = _fold(whole), _fold(wanted)
    tests = {
        Operator.CONTAINS: func.strpos(whole, wanted) > 0,
        Operator.STARTS_WITH: func.starts_with(whole, wanted),
        Operator.ENDS_WITH: func.right(whole, func.length(wanted)) == wanted,
    }
    return and_(_type(_place(path, entries.c.metadata)) == "string", tests[operator])


def _has_element(place: Value, value: Any, case_sensitive: bool) -> Condition:
    """Folding the written list folds its texts: nothing else in it has a case.

    One condition instead of several, each of which the planner would take for a rare one.
    """
    wanted = json.dumps([value], ensure_ascii=False)
    folded = cast(_fold(cast(place, Text)), JSONB)
    found: Condition = folded.op("@>")(cast(_fold(literal(wanted, Text)), JSONB))
    if case_sensitive and isinstance(value, str):
        found = and_(found, place.op("@>")(cast(literal(wanted, Text), JSONB)))
    return case((_type(place) == "array", found), else_=false())


def _leaf(path: Path, values: Sequence[Any], depth: int) -> list[Condition]:
    """What follows from the rest, and what a GIN index on the outermost key can find."""
    if len(path) < depth or not values or None in values or not is_spellable(path[:1]):
        return []
    held = leaves_key(path[:1], entries.c.metadata)
    wanted = array([_leaf_text(each) for each in values])
    return [held.op("&&")(cast(wanted, ARRAY(Text)))]


def _leaf_text(value: Any) -> ColumnElement[str]:
    """As the function writes it."""
    letters: ColumnElement[int] = literal_column(str(INDEXED_LETTERS))
    match value:
        case bool():
            return literal(json.dumps(value), Text)
        case str():
            return func.left(literal("s", Text).concat(_fold(literal(value, Text))), letters)
        case _:
            number = func.trim_scale(cast(literal(json.dumps(value), Text), Numeric))
            return func.left(literal("n", Text).concat(cast(number, Text)), letters)


def _one_of(left: Value, values: Sequence[Any]) -> Condition:
    return left == values[0] if len(values) == 1 else left.in_(values)
