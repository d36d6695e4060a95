"""Data folders that are full, garbled, emptied or of another age."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ctx_core.engine.engine import open_engine
from ctx_core.errors import StorageFailed
from ctx_core.memories.memory import MemoryFilters
from ctx_core.settings import Settings
from ctx_memory.service import MemoryServer, open_memory
from scripts.bench.attacks.attack import FolderAttack, Outcome

ENTRIES = 180
DISK_MB = 200
FULL_DISK = """
import asyncio, os, sys
from pathlib import Path
from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_memory.service import open_memory
from ctx_core.errors import StorageFailed
from ctx_core.memories.memory import MemoryFilters
async def main():
    settings = Settings(data_dir=Path(sys.argv[1]))
    async with open_engine(settings, settings.memory_model) as engine, \\
            open_memory(settings, engine) as memory:
        stored = 0
        for n in range(100_000):
            try:
                answer = await memory.memories.store(f"note {n} " + os.urandom(20_000).hex(), None)
            except StorageFailed as error:
                assert sys.argv[1] in str(error), error
                break
            stored += 1
            if "degraded" in answer and n % 50 == 0:
                assert sys.argv[1] in str(answer), answer
        found = await memory.memories.find("note", MemoryFilters(), 5)
        assert found.hits
        print(stored)
asyncio.run(main())
"""


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[MemoryServer]:
    settings = Settings(data_dir=folder)
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        yield memory


async def fill(folder: Path) -> list[str]:
    async with started(folder) as memory:
        return [(await memory.memories.store(f"note {n}", None))["id"] for n in range(ENTRIES)]


async def found(memory: MemoryServer) -> set[str]:
    answer = await memory.memories.find("note", MemoryFilters(), 2 * ENTRIES)
    return {hit["information"] for hit in answer.hits}


async def fails(memory: MemoryServer, check: str) -> bool:
    try:
        await memory.service.checks[check]()
    except StorageFailed:
        return True
    return False


async def full_disk(folder: Path, outcome: Outcome) -> None:
    """A disk of 200 MB is filled by memories, until SQL has no room either."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    if (await asyncio.to_thread(subprocess.run, mount, capture_output=True)).returncode:
        return  # this user cannot mount: not tried
    try:
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", FULL_DISK, str(folder)], capture_output=True
        )
        outcome.note("no SIGBUS", done.returncode != -signal.SIGBUS)
        outcome.note(
            f"errors name the folder, reads go on: {done.stderr[-300:]!r}", not done.returncode
        )
    finally:
        await asyncio.to_thread(subprocess.run, ["umount", str(folder)], check=True)


async def garbled_cache(folder: Path, outcome: Outcome) -> None:
    """Half of the embedding cache is noise, while a server runs and before it starts."""
    await fill(folder)
    cache = folder / "embeddings.sqlite"
    for when in ("before the start", "while it runs"):
        content = cache.read_bytes()
        if when == "before the start":
            cache.write_bytes(content[:4096] + random.Random(1).randbytes(len(content) - 4096))
        async with started(folder) as memory:
            if when == "while it runs":
                cache.write_bytes(content[:4096] + random.Random(1).randbytes(len(content) - 4096))
            for n in range(20):
                stored = await memory.memories.store(f"note {when} {n}", None)
                outcome.note(f"store {when}", stored["ok"] and "degraded" not in stored)
            outcome.note(f"ready {when}", not await fails(memory, "qdrant"))


async def older_vectors(folder: Path, outcome: Outcome) -> None:
    """An older `vectors/` with as many points under newer records."""
    ids = await fill(folder)
    shutil.copytree(folder / "vectors", folder / "older")
    async with started(folder) as memory:
        await memory.memories.delete(ids[:20])
        for n in range(20):
            await memory.memories.store(f"note new {n}", None)
        expected = await found(memory)
    shutil.rmtree(folder / "vectors")
    (folder / "older").rename(folder / "vectors")
    async with started(folder) as memory:
        now = await found(memory)
    for text in sorted(expected ^ now):
        outcome.note(text, held=False)
    outcome.tried += len(expected & now)
    outcome.held += len(expected & now)


async def emptied_records(folder: Path, outcome: Outcome) -> None:
    """The records are gone; the doctor is asked to fix that, without and with --yes."""
    await fill(folder)
    delete_records(folder)
    async with started(folder) as memory:
        outcome.note("noticed", await fails(memory, "entries"))
    await doctor(folder, "--fix")
    async with started(folder) as memory:
        kept = len(await found(memory))
    outcome.tried += ENTRIES
    outcome.held += kept
    await doctor(folder, "--fix", "--yes")
    outcome.tried += ENTRIES
    outcome.held += len(saved_texts(folder))


def delete_records(folder: Path) -> None:
    for file in folder.glob("records.sqlite*"):
        file.unlink()


def saved_texts(folder: Path) -> set[str]:
    """Return the texts of the entries that the doctor saved before it removed them."""
    lines = [line for copy in folder.glob("removed-*.jsonl") for line in copy.open()]
    return {json.loads(line)["information"] for line in lines}


async def doctor(folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "ctx", "doctor", "--json", *options]
    env = os.environ | {"CTX_DATA_DIR": str(folder)}
    await asyncio.to_thread(subprocess.run, command, env=env, capture_output=True, check=False)


async def garbled_payloads(folder: Path, outcome: Outcome) -> None:
    """Noise in the pages of payloads: said with the remedy, rebuilt without being read."""
    await fill(folder)
    for page in (folder / "vectors").rglob("memories*/**/payload_storage/page_*.dat"):
        content = page.read_bytes()
        used = len(content.rstrip(b"\0"))
        page.write_bytes(content[:64] + random.Random(2).randbytes(used - 64) + content[used:])
    async with started(folder) as memory:
        outcome.note("noticed", await fails(memory, "qdrant"))
        try:
            await memory.memories.find("note", MemoryFilters(), 100)
            outcome.note("an error", held=False)
        except StorageFailed as error:
            outcome.note("remedy", "ctx memory rebuild" in str(error))
        await memory.storage.healer.rebuild()
        outcome.tried += ENTRIES
        outcome.held += len(await found(memory))


async def lost_names(folder: Path, outcome: Outcome) -> None:
    """`aliases.json` is gone after a rebuild."""
    await fill(folder)
    async with started(folder) as memory:
        await memory.storage.healer.rebuild()
    (folder / "vectors" / "aliases.json").unlink()
    before = {each.name for each in (folder / "vectors" / "collections").iterdir()}
    async with started(folder) as memory:
        outcome.tried += ENTRIES
        outcome.held += len(await found(memory))
    after = {each.name for each in (folder / "vectors" / "collections").iterdir()}
    outcome.note("no collection erased", before <= after)


ATTACKS = [
    FolderAttack("a full disk", full_disk),
    FolderAttack("a garbled embedding cache", garbled_cache),
    FolderAttack("older vectors under newer records", older_vectors),
    FolderAttack("emptied records", emptied_records),
    FolderAttack("garbled payloads", garbled_payloads),
    FolderAttack("lost names of collections", lost_names),
]
