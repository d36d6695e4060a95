"""Migrates a database to the newest revision of the tables.

Alembic is imported where a revision is missing: it would be a tenth of every start.
"""

import logging
from pathlib import Path

from sqlalchemy import Connection, String, column, func, inspect, select, table
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.errors import StorageFailed
from ctx_memory.records.backup import back_up
from ctx_memory.records.database import Database
from ctx_memory.records.tables import VERSION_TABLE

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 7_403  # our key among PostgreSQL's advisory locks
# The columns of the first tables, which had no revision.
UNVERSIONED = {
    "entries": ("id uuid kind collection text metadata content_hash created_at updated_at".split()),
    "outbox": "id entry_id".split(),
}


async def migrate(database: Database, connection: AsyncConnection) -> None:
    """Run the missing revisions in the transaction of this connection, after a backup.

    Of several processes that start together one migrates; the others block here until it is done.
    """
    if database.dialect == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    newest = newest_revision()
    current = await connection.run_sync(revision)
    if current == newest:
        return
    _require_known(current, database)
    if current is not None or await connection.run_sync(_is_unversioned, database):
        copy = await back_up(database, connection, str(newest))
        log.warning("bringing %s to revision %s; a copy is at %s", database.name, newest, copy)
    await connection.run_sync(_upgrade)


def newest_revision() -> str:
    """Return the revision of this version's tables."""
    return max(known_revisions())


def known_revisions() -> set[str]:
    """Return every revision up to the newest: `r0001_entries.py` holds 0001."""
    names = [path.stem for path in (MIGRATIONS / "versions").glob("r*.py")]
    return {name[1:].split("_", 1)[0] for name in names}


def revision(connection: Connection) -> str | None:
    """Return the database's revision; None where it is empty or has the first tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    number = column("version_num", String)
    return connection.scalar(select(number).select_from(table(VERSION_TABLE, number)))


def _require_known(current: str | None, database: Database) -> None:
    if current is not None and current not in known_revisions():
        raise StorageFailed(
            f"{database.name} was written by a newer ctx (revision {current}). "
            "Install that version, or go back to the copy that it made before."
        )


def _is_unversioned(connection: Connection, database: Database) -> bool:
    """Whether the database has the first tables. Raises StorageFailed for another program's."""
    inspector = inspect(connection)
    tables = [name for name in UNVERSIONED if inspector.has_table(name)]
    if not tables:
        return False
    columns = {name: [each["name"] for each in inspector.get_columns(name)] for name in tables}
    if database.dialect == "sqlite" and columns == UNVERSIONED:
        return True
    raise StorageFailed(
        f"{database.name} holds tables that are not ours ({', '.join(tables)}). "
        "Give ctx a database of its own with DATABASE_URL."
    )


def _upgrade(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, "head")
