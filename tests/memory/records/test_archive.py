"""Backups: what is restored into an empty database equals what was backed up."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ctx_core.errors import InvalidInput
from ctx_memory.records.archive import (
    MANIFEST,
    TABLES,
    check_archive,
    restore_archive,
    write_archive,
)
from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.records.fulltext.query import TextQuery
from ctx_memory.records.migrate import known_revisions
from ctx_memory.records.store import Records
from tests.support.records import PNG, draft, texts


async def quietly(name: str, rows: int) -> None:
    """No progress is shown."""


async def rows(records: Records) -> dict[str, list[Any]]:
    """Every row of every table that a backup holds."""
    async with records.database.reading("compare") as connection:
        return {
            table.name: [
                tuple(row) for row in await connection.execute(select(table).order_by(*table.c[:1]))
            ]
            for table in TABLES
        }


async def fill(records: Records) -> None:
    await records.entries.add(
        [
            draft("first: größer\u2028", tags=["a", "b"], images=[PNG]),
            draft("second", metadata={"$bytes": "x", "deep": [1, None, {"k": 1.5}]}),
            draft("a memory", thread=None, kind=EntryKind.MEMORY),
        ]
    )
    await records.entries.remove(Criteria(EntryKind.MEMORY))


@pytest.fixture
async def other(tmp_path: Path) -> Any:
    opened = await Records.open(f"sqlite:///{tmp_path / 'other.sqlite'}")
    yield opened
    await opened.close()


async def test_a_backup_restores_equal_records(
    records: Records, other: Records, tmp_path: Path
) -> None:
    await fill(records)
    file = tmp_path / "backup.zip"
    manifest = await write_archive(records.database, file, quietly)
    assert manifest.tables["entries"].rows == 2
    await restore_archive(other.database, file, quietly)
    assert await rows(other) == await rows(records)
    thread = Criteria(EntryKind.THREAD)
    found, _ = await other.texts.find(TextQuery("second"), thread, 5)
    assert [hit.entry.text for hit in found] == ["second"]


async def test_records_are_restored_into_either_database(records: Records, tmp_path: Path) -> None:
    source = await Records.open(f"sqlite:///{tmp_path / 'source.sqlite'}")
    await fill(source)
    file = tmp_path / "backup.zip"
    await write_archive(source.database, file, quietly)
    await restore_archive(records.database, file, quietly)
    assert await rows(records) == await rows(source)
    await source.close()
    await records.entries.add([draft("written after the restore")])
    assert len(await texts(records)) == 3


async def test_nothing_is_overwritten(records: Records, other: Records, tmp_path: Path) -> None:
    await fill(records)
    await fill(other)
    before = await rows(other)
    file = tmp_path / "backup.zip"
    await write_archive(records.database, file, quietly)
    with pytest.raises(InvalidInput, match="restore into an empty one"):
        await restore_archive(other.database, file, quietly)
    assert await rows(other) == before


async def test_damage_is_noticed_before_anything_is_written(other: Records, tmp_path: Path) -> None:
    source = await Records.open(f"sqlite:///{tmp_path / 'source.sqlite'}")
    await fill(source)
    file = tmp_path / "backup.zip"
    await write_archive(source.database, file, quietly)
    await source.close()
    content = file.read_bytes()
    for broken in (content[: len(content) // 2], b"", replaced(file, tmp_path)):
        file.write_bytes(broken)
        with pytest.raises(InvalidInput, match="damaged"):
            await restore_archive(other.database, file, quietly)
    assert not any((await rows(other)).values())


def replaced(file: Path, folder: Path) -> bytes:
    """The archive with another text of one entry, and a right checksum of the zip itself."""
    changed = folder / "changed.zip"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"second", b"forged"))
    return changed.read_bytes()


async def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    records = await Records.open(f"sqlite:///{tmp_path / 'source.sqlite'}")
    folder = tmp_path / "gone"
    with pytest.raises(Exception, match="could not be written"):
        await write_archive(records.database, folder / "backup.zip", quietly)
    await records.close()
    assert not folder.exists()
    with pytest.raises(InvalidInput):
        check_archive(folder / "backup.zip")


@pytest.mark.parametrize(
    ("revision", "advice"), [("0003", "then start this one"), ("9999", "a newer ctx wrote it")]
)
async def test_a_backup_of_other_tables_says_what_to_do(
    other: Records, tmp_path: Path, revision: str, advice: str
) -> None:
    file, changed = tmp_path / "backup.zip", tmp_path / "changed.zip"
    await write_archive(other.database, file, quietly)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        manifest = json.loads(old.read(MANIFEST))
        assert revision == "9999" or revision in known_revisions()
        manifest["revision"] = revision
        dropped = sorted(manifest["tables"])[0]  # another revision may have other tables
        del manifest["tables"][dropped]
        for name in set(old.namelist()) - {MANIFEST, f"{dropped}.jsonl"}:
            new.writestr(name, old.read(name))
        new.writestr(MANIFEST, json.dumps(manifest))
    with pytest.raises(InvalidInput, match=advice):
        await restore_archive(other.database, changed, quietly)
