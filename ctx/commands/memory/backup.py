"""`ctx backup`: writes all records to one file."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ctx.archives import counted, row_counts, with_records
from ctx.cli import COMMANDS, define_command
from ctx.output import show
from ctx.progress import ProgressBar
from ctx_core.clock import utc_now
from ctx_core.errors import InvalidInput

NAME = "ctx-{moment}.zip"
PATTERN = "ctx-????????T??????Z.zip"


@define_command(
    "backup",
    COMMANDS["backup"] + " Memories, threads, conversations and private knowledge, from SQLite or "
    "PostgreSQL, as they are at this moment; servers go on meanwhile. The file is read back and "
    "compared with its checksums. Public knowledge is in git, vectors and code are built anew.",
    examples=[
        "ctx backup",
        "ctx backup before-the-upgrade.zip",
        "ctx backup --folder /backups --keep 7 --json",
    ],
)
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write ctx-TIME.zip here instead of in this folder.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Delete all but the newest N backups of --folder afterwards.",
)
def command(file: Path | None, folder: Path | None, keep: int | None, as_json: bool) -> int:
    """Back up the configured database."""
    if file is not None and folder is not None:
        raise InvalidInput("--folder", "goes without FILE")
    if keep is not None and folder is None:
        raise InvalidInput("--keep", "goes with --folder: it deletes older backups there")
    place = folder or Path()
    file = file or place / NAME.format(moment=utc_now().strftime("%Y%m%dT%H%M%SZ"))
    if not file.parent.is_dir():
        raise InvalidInput("FILE", f"its folder {file.parent} does not exist")
    from ctx_memory.records.archive import write_archive

    with ProgressBar("tables", as_json=as_json) as bar:
        manifest = asyncio.run(with_records(write_archive, file, bar))
    body = {
        "ok": True,
        "file": str(file),
        "bytes": file.stat().st_size,
        "rows": row_counts(manifest),
        "removed": _prune(folder, keep) if folder and keep else [],
    }
    show(body, _text, as_json=as_json)
    return 0


def _prune(folder: Path, keep: int) -> list[str]:
    """Delete all but the newest backups; their names are in the order of time."""
    older = sorted(folder.glob(PATTERN))[:-keep]
    for each in older:
        each.unlink()
    return [str(each) for each in older]


def _text(body: Mapping[str, Any]) -> str:
    lines = [f"Wrote {body['file']} ({body['bytes'] / 1e6:.1f} MB): {counted(body['rows'])}."]
    lines += [f"Removed {name}" for name in body["removed"]]
    return "\n".join(lines)
