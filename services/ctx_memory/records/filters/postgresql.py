"""Conditions of metadata filters for PostgreSQL's jsonb."""

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

from ctx_memory.records.entry import MetadataFilter
from ctx_memory.records.filters.operators import COMPARISONS, Operator
from ctx_memory.records.filters.paths import Path, is_index, is_spellable
from ctx_memory.records.folding import NOT_FOLDED
from ctx_memory.records.tables import entries

log = logging.getLogger(__name__)

# Letters of a string that its index holds: an index entry must stay below 2,700 bytes.
INDEXED_LETTERS = 128
CASEFOLD_SINCE = 180_000  # server_version_num
# Collations for lower() on a server without casefold(), the first that it has. Without any of them
# the database's own collation decides, which may fold ASCII only.
COLLATIONS = ("pg_c_utf8", "und-x-icu", "C.utf8", "C.UTF-8")
PLACEHOLDERS = "\ue17f\ue18a"  # private letters that stand in for NOT_FOLDED while folding
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
    """Create the functions that conditions call; existing ones stay, as indexes depend on them."""
    if not await _exists(connection, "ctx_fold(text)"):
        await _create(connection, "ctx_fold(letters text)", "text", await _folding(connection))
    if not await _exists(connection, "ctx_leaves(jsonb)"):
        await _create(connection, "ctx_leaves(document jsonb)", "text[]", LEAVES_BODY)


async def _exists(connection: AsyncConnection, signature: str) -> bool:
    query = text("SELECT to_regprocedure(:signature) IS NOT NULL")
    return bool(await connection.scalar(query, {"signature": signature}))


async def _create(connection: AsyncConnection, signature: str, returns: str, body: str) -> None:
    await connection.exec_driver_sql(
        f"CREATE FUNCTION {signature} RETURNS {returns} "
        f"LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {body}"
    )


async def _folding(connection: AsyncConnection) -> str:
    """Return the body of ctx_fold: the best case folding that this server has."""
    letters = f"translate(letters, '{NOT_FOLDED}', '{PLACEHOLDERS}')"
    version = await connection.scalar(text("SELECT current_setting('server_version_num')"))
    if int(str(version)) >= CASEFOLD_SINCE:
        return f'casefold({letters} COLLATE "pg_c_utf8")'
    rows = await connection.execute(text("SELECT collname FROM pg_collation"))
    available = set(rows.scalars())
    chosen = next((f'COLLATE "{name}"' for name in COLLATIONS if name in available), "")
    if not chosen:
        log.warning("this PostgreSQL has no collation for all letters: the database's decides case")
    # lower() keeps the final sigma, which must equal the other sigmas.
    return f"translate(lower({letters} {chosen}), '\u03c2', '\u03c3')"


def condition(given: MetadataFilter) -> Condition:
    """Return the condition of a filter whose operator is not a negated one."""
    path, value = tuple(given.path), given.value
    json_value = _value(path, entries.c.metadata)
    match Operator(given.operator):
        case Operator.EQ:
            return and_(_among(path, [value], given.case_sensitive), *_leaf(path, [value], 2))
        case Operator.IN:
            return and_(_among(path, value, given.case_sensitive), *_leaf(path, value, 2))
        case Operator.GT | Operator.GTE | Operator.LT | Operator.LTE as operator:
            return COMPARISONS[operator](number_key(path, entries.c.metadata), _jsonb(value))
        case Operator.EXISTS | Operator.IS_NOT_NULL:
            return _type(json_value) != "null"
        case Operator.IS_NULL:
            return _type(json_value) == "null"
        case Operator.ARRAY_CONTAINS:
            return and_(
                _has_element(json_value, value, given.case_sensitive), *_leaf(path, [value], 1)
            )
        case operator:
            return _has_part(path, operator, value, given.case_sensitive)


# --- expressions of indexes ----------------------------------------------------------------


# Each index holds one JSON type: a value of another type may be too large for an index entry, and
# a separate condition on the type would mislead the planner, which has no statistics on it.


def text_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on strings."""
    start = func.left(_fold(_text(path, document)), literal_column(str(INDEXED_LETTERS)))
    return _of_type("string", path, document, start)


def number_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on numbers."""
    return _of_type("number", path, document, _value(path, document))


def boolean_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of an index on booleans."""
    return _of_type("boolean", path, document, _value(path, document))


def _of_type(name: str, path: Path, document: ColumnElement[Any], key: Value) -> Value:
    return case((_type(_value(path, document)) == _literal(name), key))


def leaves_key(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the expression of a GIN index on every string, number and boolean inside a value."""
    return func.ctx_leaves(_value(path, document), type_=ARRAY(Text))


# --- values --------------------------------------------------------------------------------


def _value(path: Path, document: ColumnElement[Any]) -> Value:
    """Return the JSON value at a path. `#>` takes a number as key or position, `->` as key only."""
    for step in path:
        operator = "#>" if is_index(step) else "->"
        document = document.op(operator, precedence=15, return_type=JSONB())(_step(step, path))
    return document


def _text(path: Path, document: ColumnElement[Any]) -> Value:
    """Return a string at a path without quotes; another type as JSON writes it."""
    operator = "#>>" if is_index(path[-1]) else "->>"
    parent = _value(path[:-1], document)
    return parent.op(operator, precedence=15, return_type=Text())(_step(path[-1], path))


def _step(step: str, path: Path) -> ColumnElement[Any]:
    """Return a step: as SQL text in a spellable path, as an index needs it, else bound."""
    if is_index(step):
        return cast(literal("{" + step + "}", Text), ARRAY(Text))
    return _literal(step) if is_spellable(path) else literal(step, Text)


def _literal(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", Text)


def _type(value: Value) -> ColumnElement[str]:
    return func.jsonb_typeof(value, type_=Text)


def _fold(value: Value) -> ColumnElement[str]:
    return func.ctx_fold(value, type_=Text)


def _jsonb(value: Any) -> Value:
    return cast(literal(json.dumps(value, ensure_ascii=False), Text), JSONB)


# --- tests of a value ----------------------------------------------------------------------


def _among(path: Path, values: Sequence[Any], case_sensitive: bool) -> Condition:
    """Test for one of the values, which may differ in type: 1, true and "1" are not equal."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    constants = [value for value in values if value is None or isinstance(value, bool)]
    document = entries.c.metadata
    tests = []
    if texts:
        tests.append(_is_text(path, texts, case_sensitive))
    if numbers:
        tests.append(_one_of(number_key(path, document), [_jsonb(each) for each in numbers]))
    if booleans := [value for value in constants if value is not None]:
        tests.append(_one_of(boolean_key(path, document), [_jsonb(each) for each in booleans]))
    if None in constants:
        tests.append(_type(_value(path, document)) == "null")
    return or_(*tests) if tests else false()


def _is_text(path: Path, texts: Sequence[str], case_sensitive: bool) -> Condition:
    """Test by the letters that the index holds, and by the whole string where it is longer."""
    document = entries.c.metadata
    whole = _text(path, document)
    folded = [_fold(literal(each, Text)) for each in texts]
    starts = [func.left(each, literal_column(str(INDEXED_LETTERS))) for each in folded]
    tests = [_one_of(text_key(path, document), starts)]
    if case_sensitive:
        tests.append(_one_of(whole, texts))
    elif any(len(each) * 2 > INDEXED_LETTERS for each in texts):
        tests.append(_one_of(_fold(whole), folded))
    return and_(*tests)


def _has_part(path: Path, operator: Operator, part: str, case_sensitive: bool) -> Condition:
    """Test for a part of a string, by functions: LIKE would need escaping."""
    whole = _text(path, entries.c.metadata)
    needle: ColumnElement[str] = literal(part, Text)
    if not case_sensitive:
        whole, needle = _fold(whole), _fold(needle)
    tests = {
        Operator.CONTAINS: func.strpos(whole, needle) > 0,
        Operator.STARTS_WITH: func.starts_with(whole, needle),
        Operator.ENDS_WITH: func.right(whole, func.length(needle)) == needle,
    }
    return and_(_type(_value(path, entries.c.metadata)) == "string", tests[operator])


def _has_element(list_: Value, value: Any, case_sensitive: bool) -> Condition:
    """Test for an element of a list, by folding its JSON text, in which only strings have case.

    It is one condition, as the planner would take each of several for a selective one.
    """
    element = json.dumps([value], ensure_ascii=False)
    folded = cast(_fold(cast(list_, Text)), JSONB)
    test: Condition = folded.op("@>")(cast(_fold(literal(element, Text)), JSONB))
    if case_sensitive and isinstance(value, str):
        test = and_(test, list_.op("@>")(cast(literal(element, Text), JSONB)))
    return case((_type(list_) == "array", test), else_=false())


def _leaf(path: Path, values: Sequence[Any], depth: int) -> list[Condition]:
    """Return an implied condition that a GIN index on the outermost key can answer."""
    if len(path) < depth or not values or None in values or not is_spellable(path[:1]):
        return []
    leaves = leaves_key(path[:1], entries.c.metadata)
    texts = array([_leaf_text(value) for value in values])
    return [leaves.op("&&")(cast(texts, ARRAY(Text)))]


def _leaf_text(value: Any) -> ColumnElement[str]:
    """Return a value as ctx_leaves writes it."""
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
