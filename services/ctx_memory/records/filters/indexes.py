"""SQL indexes on metadata fields, over the same expressions that filter conditions use.

A field is written `name` or `name:type` with string, number, boolean, array or object. The default
is string; `array` and `object` index every value inside the field, on PostgreSQL only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, column, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.errors import SettingsInvalid
from ctx_memory.records.entry import MetadataFilter
from ctx_memory.records.filters import postgresql as on_postgresql
from ctx_memory.records.filters import sqlite as on_sqlite
from ctx_memory.records.filters.operators import Operator
from ctx_memory.records.filters.paths import Path, is_spellable, parse_path

PREFIX = "metadata_"  # of the names of these indexes
FieldType = Literal["string", "number", "boolean", "array", "object"]
ALIASES: Mapping[str, FieldType] = {"integer": "number", "float": "number"}
# Fields of the threads contract that are no strings.
DEFAULT_TYPES: Mapping[str, FieldType] = {"references": "object", "technologies": "array"}
MAX_NAME_LENGTH = 45  # PostgreSQL cuts names of indexes at 63 bytes
DOCUMENT = column("metadata", JSONB)  # CREATE INDEX takes no table name before a column
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
# Filtered entries are read newest first: the index holds them in that order.
ORDER = "created_at, id"


@dataclass(frozen=True)
class IndexedField:
    """A metadata field and the type of values that its index holds."""

    path: Path
    type: FieldType

    @property
    def index_name(self) -> str:
        return f"{PREFIX}{self.type}_{'__'.join(self.path)}"


def parse_fields(fields: Sequence[str]) -> list[IndexedField]:
    """Parse METADATA_INDEXED_FIELDS. Raises SettingsInvalid, which names each wrong field."""
    parsed = {text: _field(text) for text in fields}
    wrong = [text for text, field in parsed.items() if field is None]
    if wrong:
        types = ", ".join((*get_args(FieldType), *ALIASES))
        raise SettingsInvalid(
            f"METADATA_INDEXED_FIELDS: {', '.join(wrong)}: write `name` or `name:type`, where the "
            "name has letters, digits, - and _, with dots for nested fields, at most "
            f"{MAX_NAME_LENGTH} characters, and the type is one of {types}"
        )
    return list(dict.fromkeys(field for field in parsed.values() if field is not None))


def _field(text: str) -> IndexedField | None:
    name, _, given = text.partition(":")
    type_ = ALIASES.get(given, given) or DEFAULT_TYPES.get(name, "string")
    path = _path(name)
    for known in get_args(FieldType):
        if path is not None and type_ == known:
            return IndexedField(path, known)
    return None


async def index_metadata(connection: AsyncConnection, dialect: str, fields: Sequence[str]) -> None:
    """Create missing indexes, and drop those of fields that are no longer listed.

    On PostgreSQL it also creates the functions that conditions call. Call it in a transaction that
    one process at a time runs, such as the migration's.
    """
    if dialect == "postgresql":
        await on_postgresql.ensure_functions(connection)
    definitions = {
        field.index_name: statement
        for field in parse_fields(fields)
        if (statement := _definition(field, dialect))
    }
    existing = await _existing(connection, dialect)
    for name in existing - definitions.keys():
        await connection.exec_driver_sql(f'DROP INDEX "{name}"')
    for name in definitions.keys() - existing:
        await connection.exec_driver_sql(f'CREATE INDEX "{name}" ON entries {definitions[name]}')


def is_served(given: MetadataFilter, fields: Sequence[IndexedField]) -> bool:
    """Whether a SQLite index answers the filter: equality with ASCII strings."""
    values = given.value if given.operator == Operator.IN else [given.value]
    return (
        given.operator in (Operator.EQ, Operator.IN)
        and IndexedField(tuple(given.path), "string") in fields
        and all(isinstance(value, str) and value.isascii() for value in values)
    )


def _path(name: str) -> Path | None:
    try:
        path = parse_path(name)
    except ValueError:
        return None
    return path if is_spellable(path) and len(name) <= MAX_NAME_LENGTH else None


def _definition(field: IndexedField, dialect: str) -> str | None:
    if dialect == "sqlite":
        key_of = _SQLITE.get(field.type)
        return key_of and f"(kind, {_sql(key_of(field.path, DOCUMENT), sqlite)}, {ORDER})"
    key_of = _POSTGRESQL[field.type]
    key = _sql(key_of(field.path, DOCUMENT), postgresql)
    if field.type in ("array", "object"):
        return f"USING gin (({key}))"
    return f"(kind, ({key}), {ORDER})"


def _sql(expression: ColumnElement[Any], dialect: Any) -> str:
    return str(
        expression.compile(dialect=dialect.dialect(), compile_kwargs={"literal_binds": True})
    )


async def _existing(connection: AsyncConnection, dialect: str) -> set[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'entries'"
        if dialect == "sqlite"
        else "SELECT indexname FROM pg_indexes "
        "WHERE tablename = 'entries' AND schemaname = current_schema()"
    )
    names = await connection.execute(text(query))
    return {name for name in names.scalars() if name.startswith(PREFIX)}
