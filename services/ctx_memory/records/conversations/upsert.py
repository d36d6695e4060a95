"""INSERT ... ON CONFLICT, which both databases write in the same way."""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from ctx_memory.records.database import Dialect


def insert_into(table: Table, dialect: Dialect) -> sqlite.Insert | postgresql.Insert:
    """Return an insert that has `on_conflict_do_update` and `on_conflict_do_nothing`."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
