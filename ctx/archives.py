"""Backups of the configured database, with a bar over its tables."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ctx.progress import ProgressBar
from ctx_core.settings import load

if TYPE_CHECKING:
    from ctx_memory.records.archive import ArchiveManifest, OnTable
    from ctx_memory.records.database import Database

    Action = Callable[[Database, Path, OnTable], Awaitable[ArchiveManifest]]


async def with_records(action: "Action", file: Path, bar: ProgressBar) -> "ArchiveManifest":
    """Open the records, migrated where needed, and let an action of `records.archive` use them."""
    from ctx_memory.records.archive import TABLES
    from ctx_memory.service import open_records

    done = 0

    async def on_table(name: str, rows: int) -> None:
        nonlocal done
        await bar.show(done, len(TABLES), f"{rows} of {name}")
        done += 1

    records = await open_records(load())
    try:
        return await action(records.database, file, on_table)
    finally:
        await records.close()


def row_counts(manifest: "ArchiveManifest") -> dict[str, int]:
    """Count the rows of each table that has any."""
    return {name: member.rows for name, member in manifest.tables.items() if member.rows}


def counted(rows: dict[str, int]) -> str:
    """Format the counts for a person."""
    return ", ".join(f"{count} {name}" for name, count in rows.items()) or "nothing"
