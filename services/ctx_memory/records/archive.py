"""Backups of all records in one file that either database can be restored from.

A zip with one member of JSON lines for each table, and a manifest with the revision of the tables
and the count and SHA-256 of each member. Derived data (the outbox, full text) is left out.
"""

import base64
import hashlib
import itertools
import json
import os
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import LargeBinary, Table, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_core.blocking import DISK
from ctx_core.clock import utc_now
from ctx_core.errors import InvalidInput, StorageFailed
from ctx_core.files import sync_folder
from ctx_memory.records.database import Database
from ctx_memory.records.migrate import known_revisions, newest_revision
from ctx_memory.records.tables import outbox, schema

FORMAT = 1
MANIFEST = "manifest.json"
BATCH_ROWS = 500
READ_BYTES = 1 << 20
# In the order of their foreign keys.
TABLES: Sequence[Table] = [table for table in schema.sorted_tables if table is not outbox]

OnTable = Callable[[str, int], Awaitable[None]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Member:
    """The rows of one table in an archive."""

    rows: int
    sha256: str


@dataclass(frozen=True)
class ArchiveManifest:
    """The head of an archive: the revision of its tables, and the members."""

    format: int
    revision: str
    created_at: str
    tables: Mapping[str, Member]


async def write_archive(database: Database, file: Path, on_table: OnTable) -> ArchiveManifest:
    """Write all records, as they are at one moment, to a file that is then read back.

    Servers may go on writing. Raises StorageFailed; then there is no file.
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        manifest = await _write(database, partial, on_table)
        await DISK.run(check_archive, partial)
        await DISK.run(_put_in_place, partial, file)
    except OSError as error:
        raise StorageFailed(f"The backup {file} could not be written: {error}") from error
    finally:
        await DISK.run(_remove, partial)
    return manifest


async def restore_archive(database: Database, file: Path, on_table: OnTable) -> ArchiveManifest:
    """Write the records of an archive into a database without any, all or none.

    Raises InvalidInput for a damaged archive, one of a newer version, and a database in use.
    """
    manifest = await DISK.run(check_archive, file)
    _require_same_tables(manifest)
    async with database.writing("restore the records") as connection:
        await _require_empty(connection)
        with zipfile.ZipFile(file) as archive:
            for table in TABLES:
                await on_table(table.name, manifest.tables[table.name].rows)
                rows = _rows(archive, table)
                while batch := list(itertools.islice(rows, BATCH_ROWS)):
                    await connection.execute(insert(table), batch)
        if database.dialect == "postgresql":
            await _advance_sequences(connection)
    return manifest


def check_archive(file: Path) -> ArchiveManifest:
    """Compare every member with its checksum. Raises InvalidInput. Blocks."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _read_manifest(archive)
            for name, member in manifest.tables.items():
                if _digest(archive, name) != member.sha256:
                    raise InvalidInput("file", f"{file} is damaged: {name} has another checksum")
    except (OSError, zipfile.BadZipFile, EOFError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("file", f"{file} is no backup, or damaged: {error}") from error
    return manifest


# --- writing -------------------------------------------------------------------------------


async def _write(database: Database, file: Path, on_table: OnTable) -> ArchiveManifest:
    members: dict[str, Member] = {}
    descriptor = await DISK.run(os.open, file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as target,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        async with database.reading("back up the records") as connection:
            for table in TABLES:
                count = await connection.scalar(select(func.count()).select_from(table)) or 0
                await on_table(table.name, count)
                members[table.name] = await _write_table(connection, archive, table)
        manifest = ArchiveManifest(
            FORMAT, str(newest_revision()), utc_now().isoformat(timespec="seconds"), members
        )
        archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


async def _write_table(
    connection: AsyncConnection, archive: zipfile.ZipFile, table: Table
) -> Member:
    digest, count = hashlib.sha256(), 0
    with archive.open(_member(table.name), "w", force_zip64=True) as member:
        async for rows in _read_table(connection, table):
            lines = b"".join(_encode(table, row) for row in rows)
            digest.update(lines)
            count += len(rows)
            await DISK.run(member.write, lines)
    return Member(count, digest.hexdigest())


async def _read_table(connection: AsyncConnection, table: Table) -> AsyncIterator[list[Row]]:
    statement = select(table).order_by(*table.primary_key.columns)
    result = await connection.stream(statement)
    async for rows in result.mappings().partitions(BATCH_ROWS):
        yield [dict(row) for row in rows]


def _encode(table: Table, row: Row) -> bytes:
    for name in _binary(table):
        row[name] = base64.b64encode(row[name]).decode()
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _binary(table: Table) -> list[str]:
    """List the columns whose values are bytes, base64 in an archive."""
    return [column.name for column in table.columns if isinstance(column.type, LargeBinary)]


def _put_in_place(partial: Path, file: Path) -> None:
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    partial.replace(file)
    sync_folder(file.parent)


def _remove(partial: Path) -> None:
    partial.unlink(missing_ok=True)


# --- reading -------------------------------------------------------------------------------


def _member(table: str) -> str:
    return f"{table}.jsonl"


def _read_manifest(archive: zipfile.ZipFile) -> ArchiveManifest:
    found = json.loads(archive.read(MANIFEST))
    if found["format"] != FORMAT:
        raise InvalidInput("file", f"has format {found['format']}, this ctx reads {FORMAT}")
    tables = {name: Member(**member) for name, member in found.pop("tables").items()}
    return ArchiveManifest(**found, tables=tables)


def _require_same_tables(manifest: ArchiveManifest) -> None:
    """Raise InvalidInput for a backup of another revision; it names the version to restore with."""
    given, own = manifest.revision, str(newest_revision())
    if given == own and manifest.tables.keys() == {table.name for table in TABLES}:
        return
    if given in known_revisions():
        advice = (
            "an older ctx wrote it: restore it with that version into an empty database, then "
            "start this one, which brings the tables up to date"
        )
    else:
        advice = "a newer ctx wrote it: install that version, and restore with it"
    raise InvalidInput(
        "file", f"is a backup of the tables' revision {given}, this ctx has {own}; {advice}"
    )


def _digest(archive: zipfile.ZipFile, table: str) -> str:
    digest = hashlib.sha256()
    with archive.open(_member(table)) as member:
        while part := member.read(READ_BYTES):
            digest.update(part)
    return digest.hexdigest()


def _rows(archive: zipfile.ZipFile, table: Table) -> Iterator[Row]:
    with archive.open(_member(table.name)) as member:
        for line in member:
            row: Row = json.loads(line)
            for name in _binary(table):
                row[name] = base64.b64decode(row[name])
            yield row


async def _require_empty(connection: AsyncConnection) -> None:
    for table in TABLES:
        if await connection.scalar(select(func.count()).select_from(table)):
            raise InvalidInput(
                "file",
                f"the database has rows in {table.name}: restore into an empty one (another "
                "CTX_DATA_DIR or DATABASE_URL)",
            )


async def _advance_sequences(connection: AsyncConnection) -> None:
    """Let PostgreSQL count on after the ids that were restored."""
    for table in TABLES:
        column = table.autoincrement_column
        if column is None:
            continue
        await connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), "
                f"(SELECT coalesce(max({column.name}), 0) + 1 FROM {table.name}), false)"
            )
        )
