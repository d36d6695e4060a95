"""Indexes on metadata fields, made of what the conditions on them say.

A field is written `name`, or `name:type` with string, number, boolean, array or object. Text is
indexed by default; `array` and `object` index everything inside the field, on PostgreSQL alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, column, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from services.core.errors import SettingsInvalid
from services.memory.records.filters import postgresql as on_postgresql
from services.memory.records.filters import sqlite as on_sqlite
from services.memory.records.filters.operators import Operator
from services.memory.records.filters.paths import Path, is_spellable, parse_path
from services.memory.records.types import MetadataFilter

PREFIX = "metadata_"  # our indexes are known by their names
FieldType = Literal["string", "number", "boolean", "array", "object"]
ALIASES: Mapping[str, FieldType] = {"integer": "number", "float": "number"}
# Fields of the contract that are not texts.
KNOWN: Mapping[str, FieldType] = {"references": "object", "technologies": "array"}
LONGEST_NAME = 45  # PostgreSQL cuts the names of indexes at 63 bytes
DOCUMENT = column("metadata", JSONB)  # without its table's name, as an index wants it
_SQLITE: Mapping[FieldType, Callable[[Path, ColumnElement[Any]], ColumnElement[Any]]] = {
    "string": on_sqlite.text_key,
    "number": on_sqlite.value_key,
    "boolean": on_sqlite.type_key,
}
_POSTGRESQL: Mapping[FieldType, Callable[[Path, ColumnElement[Any]], ColumnElement[Any]]] = {
    "string": on_postgresql.text_key,
    "number": on_postgresql.number_key,
    "boolean": on_postgresql.boolean_key,
    "array": on_postgresql.leaves_key,
    "object": on_postgresql.leaves_key,
}
# Whoever filters reads the newest first: the index holds them in that order.
ORDER = "created_at, id"


@dataclass(frozen=True)
class IndexedField:
    """A metadata field, and which of its values the index holds."""

    path: Path
    type: FieldType

    @property
    def index_name(self) -> str:
        return f"{PREFIX}{self.type}_{'__'.join(self.path)}"


def parse_fields(fields: Sequence[str]) -> list[IndexedField]:
    """METADATA_INDEXED_FIELDS; SettingsInvalid names each wrong one."""
    read = {written: _field(written) for written in fields}
    wrong = [written for written, field in read.items() if field is None]
    if wrong:
        types = ", ".join((*get_args(FieldType), *ALIASES))
        raise SettingsInvalid(
            f"METADATA_INDEXED_FIELDS: {', '.join(wrong)}: write `name` or `name:type`, where the "
            "name has letters, digits, - and _, with dots for nested fields, at most "
            f"{LONGEST_NAME} characters, and the type is one of {types}"
        )
    return list(dict.fromkeys(field for field in read.values() if field is not None))


def _field(written: str) -> IndexedField | None:
    name, _, given = written.partition(":")
    chosen = ALIASES.get(given, given) or KNOWN.get(name, "string")
    path = _path(name)
    for known in get_args(FieldType):
        if path is not None and chosen == known:
            return IndexedField(path, known)
    return None


async def index_metadata(connection: AsyncConnection, dialect: str, fields: Sequence[str]) -> None:
    """Create the indexes that are missing and drop those of fields no longer named.

    On PostgreSQL also the functions that conditions call. For a transaction that only one process
    at a time is in, such as the one that migrates.
    """
    if dialect == "postgresql":
        await on_postgresql.ensure_functions(connection)
    wanted = {
        field.index_name: statement
        for field in parse_fields(fields)
        if (statement := _definition(field, dialect))
    }
    there = await _names(connection, dialect)
    for name in there - wanted.keys():
        await connection.exec_driver_sql(f'DROP INDEX "{name}"')
    for name in wanted.keys() - there:
        await connection.exec_driver_sql(f'CREATE INDEX "{name}" ON entries {wanted[name]}')


def is_served(wanted: MetadataFilter, fields: Sequence[IndexedField]) -> bool:
    """Whether SQLite finds what a filter asks for by an index: texts in ASCII, one or several."""
    asked = wanted.value if wanted.operator == Operator.IN else [wanted.value]
    return (
        wanted.operator in (Operator.EQ, Operator.IN)
        and IndexedField(tuple(wanted.path), "string") in fields
        and all(isinstance(each, str) and each.isascii() for each in asked)
    )


def _path(name: str) -> Path | None:
    try:
        path = parse_path(name)
    except ValueError:
        return None
    return path if is_spellable(path) and len(name) <= LONGEST_NAME else None


def _definition(field: IndexedField, dialect: str) -> str | None:
    if dialect == "sqlite":
        make = _SQLITE.get(field.type)
        return make and f"(kind, {_written(make(field.path, DOCUMENT), sqlite)}, {ORDER})"
    make = _POSTGRESQL[field.type]
    key = _written(make(field.path, DOCUMENT), postgresql)
    if field.type in ("array", "object"):
        return f"USING gin (({key}))"
    return f"(kind, ({key}), {ORDER})"


def _written(expression: ColumnElement[Any], dialect: Any) -> str:
    return str(
        expression.compile(dialect=dialect.dialect(), compile_kwargs={"literal_binds": True})
    )


async def _names(connection: AsyncConnection, dialect: str) -> set[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'entries'"
        if dialect == "sqlite"
        else "SELECT indexname FROM pg_indexes "
        "WHERE tablename = 'entries' AND schemaname = current_schema()"
    )
    names = await connection.execute(text(query))
    return {name for name in names.scalars() if name.startswith(PREFIX)}
