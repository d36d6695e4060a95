"""`ctx restore`: writes the records of a backup into an empty database."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.archives import counted, row_counts, with_records
from ctx.cli import COMMANDS, define_command
from ctx.output import show
from ctx.progress import ProgressBar


@define_command(
    "restore",
    COMMANDS["restore"] + " The database of CTX_DATA_DIR or DATABASE_URL must have no records, so "
    "that nothing is overwritten; a backup of SQLite restores to PostgreSQL and the other way "
    "round. All of it is restored or nothing. The next start writes the vectors.",
    examples=[
        "ctx restore before-the-upgrade.zip",
        "CTX_DATA_DIR=~/new-ctx ctx restore before-the-upgrade.zip --json",
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path, as_json: bool) -> int:
    """Restore into the configured database."""
    from ctx_memory.records.archive import restore_archive

    with ProgressBar("tables", as_json=as_json) as bar:
        manifest = asyncio.run(with_records(restore_archive, file, bar))
    body = {
        "ok": True,
        "file": str(file),
        "created_at": manifest.created_at,
        "rows": row_counts(manifest),
    }
    show(body, _text, as_json=as_json)
    return 0


def _text(body: Mapping[str, Any]) -> str:
    return (
        f"Restored from {body['created_at']}: {counted(body['rows'])}. The next `ctx up` writes "
        "their vectors; a server that runs must be started again."
    )
