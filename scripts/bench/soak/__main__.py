"""Calls servers many thousands of times, and reports what grows with the calls.

    .venv/bin/python -m scripts.bench.soak [--server memory-sqlite] [--calls 3000] [--mixed] ...

A memory server on SQLite, one on PostgreSQL and an indexer that follows a folder run as processes,
each with the embedded engine. Each kind of call is made alone, so many times, or with --mixed all
in turn; garbage is collected before readings of the first, not of the second. Entries are deleted
as they are stored, but for messages, which are data. Calls go over new and kept connections, with
sessions and without. After the warm-up the growth per 1,000 calls is told, of anonymous memory, of
what is in use on the heap, of Python's blocks and objects. It ends by itself: after the calls, or
--seconds a kind.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.arguments import program_parser
from scripts.bench.figures import commit, note
from scripts.bench.fixtures import postgres
from scripts.bench.servers import environment, running
from scripts.bench.soak.caller import Caller, Kind, calling
from scripts.bench.soak.code import code_kinds, make_project
from scripts.bench.soak.connections import connection_kinds
from scripts.bench.soak.entries import entry_kinds
from scripts.bench.soak.probe import FILE_SETTING
from scripts.bench.soak.reading import Process, Reading, grown_types, growth

MEMORY_SQLITE, MEMORY_POSTGRES, INDEXER = "memory-sqlite", "memory-postgres", "indexer"
SERVERS = (MEMORY_SQLITE, MEMORY_POSTGRES, INDEXER)
READINGS = 20  # of each kind
PROBE = ("-m", "scripts.bench.soak.probe")


@dataclass(frozen=True)
class Soaked:
    """A server that runs, and where it is called."""

    name: str
    process: Process
    url: str
    sse_url: str
    rest_url: str
    project: Path

    def kinds(self, caller: Caller) -> Mapping[str, Kind]:
        """Return the kinds of load that it bears, by name."""
        if self.name == INDEXER:
            kinds = code_kinds(caller, self.project)
            return {**kinds, **connection_kinds(caller, "repo_search", "query")}
        return {**entry_kinds(caller), **connection_kinds(caller, "find", "query")}


@contextlib.contextmanager
def soaked(name: str, folder: Path, settings: Mapping[str, str]) -> Iterator[Soaked]:
    """Run a server with a project of its own until the block ends."""
    project, answers = folder / "project", folder / "probe.json"
    project.mkdir(parents=True)
    make_project(project)
    who = ("-c", "user.name=soak", "-c", "user.email=soak@example.org")
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(project), *command], check=True)
    chosen = {
        "CTX_WORKSPACE": str(project),
        "CTX_WATCH": "1",
        "CTX_LOG_LEVEL": "error",
        FILE_SETTING: str(answers),
        **settings,
    }
    env = environment(folder / "data", **chosen)
    module, service = _module(name)
    with running(env, *PROBE, module) as server:
        url = server.indexer_http if name == INDEXER else server.memory_http
        sse = f"http://127.0.0.1:{env[f'CTX_{service}_SSE_PORT']}/sse"
        rest = f"http://127.0.0.1:{env['PORT']}/"
        yield Soaked(name, Process(server.process.pid, answers), url, sse, rest, project)


def _module(name: str) -> tuple[str, str]:
    return ("ctx_indexer", "INDEXER") if name == INDEXER else ("ctx_memory", "MEMORY")


async def soak(server: Soaked, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Make the calls of each kind, and return the figures of each."""
    numbers = itertools.count(1)
    found = []
    async with calling(server.url, server.sse_url, server.rest_url) as caller:
        kinds = {
            name: kind
            for name, kind in server.kinds(caller).items()
            if name in (given.kinds or [name]) and name not in (given.without or [])
        }
        groups = {"all in turn": list(kinds.values())} if given.mixed else _alone(kinds)
        for name, group in groups.items():
            found.append(await _soak_kind(server, caller, name, group, numbers, given))
    return found


def _alone(kinds: Mapping[str, Kind]) -> dict[str, list[Kind]]:
    return {name: [kind] for name, kind in kinds.items()}


async def _soak_kind(
    server: Soaked,
    caller: Caller,
    name: str,
    group: list[Kind],
    numbers: Iterator[int],
    given: argparse.Namespace,
) -> dict[str, Any]:
    first, began = caller.calls, time.monotonic()
    caller.outcomes.clear()
    readings: list[Reading] = []
    steps = max(1, given.calls // READINGS)
    turns = itertools.cycle(group)
    while True:
        done = caller.calls - first
        if done >= len(readings) * steps:
            collect = not given.mixed
            readings.append(await asyncio.to_thread(server.process.read, done, collect=collect))
        if done >= given.calls or time.monotonic() - began > given.seconds:
            break
        await next(turns)(next(numbers))
    figures = {
        "server": server.name,
        "kind": name,
        "calls": caller.calls - first,
        "seconds": round(time.monotonic() - began, 1),
        "outcomes": dict(caller.outcomes),
        "growth_per_1000": growth(readings),
        "first": _plain(readings[0]),
        "last": _plain(readings[-1]),
        "anonymous_mb": [[each.calls, each.anonymous_mb] for each in readings],
        "grown": grown_types(readings[len(readings) // 2], readings[-1]),
    }
    note(f"{server.name}, {name}: {figures['calls']} calls, {figures['growth_per_1000']}")
    return figures


def _plain(reading: Reading) -> dict[str, Any]:
    return {name: value for name, value in vars(reading).items() if name != "types"}


async def run(servers: list[Soaked], given: argparse.Namespace) -> list[dict[str, Any]]:
    results = await asyncio.gather(*(soak(server, given) for server in servers))
    return [each for found in results for each in found]


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("--server", action="append", choices=SERVERS)
    parser.add_argument("--kinds", action="append", help="only the kind of this name; repeatable")
    parser.add_argument("--without", action="append", help="not the kind of this name; repeatable")
    parser.add_argument("--calls", type=int, default=3000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each kind at most")
    parser.add_argument("--mixed", action="store_true", help="all kinds in turn")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ctx-soak-")))
        servers = []
        for name in given.server or SERVERS:
            settings = {}
            if name == MEMORY_POSTGRES:
                settings["DATABASE_URL"] = stack.enter_context(postgres.running_server())
            servers.append(stack.enter_context(soaked(name, folder / name, settings)))
        found = asyncio.run(run(servers, given))
    report = {"commit": commit(), "kinds": found}
    if given.json:
        given.json.write_text(json.dumps(report, indent=1))
    for each in found:
        last = each["last"]
        print(
            f"{each['server']:16} {each['kind']:20} {each['calls']:6} calls "
            f"{each['growth_per_1000']} {last['anonymous_mb']} MB {last['files']} files "
            f"{last['threads']} threads {last['tasks']} tasks {each['outcomes']}"
        )


if __name__ == "__main__":
    main()
