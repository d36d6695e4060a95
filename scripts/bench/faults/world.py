"""What the faults happen to: Qdrant, PostgreSQL, two memory servers and an indexer, each on a disk.

One memory server keeps its records in SQLite, the other in PostgreSQL; each has a project with
knowledge under git. The indexer follows a folder of code. All share one Qdrant.
"""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import asyncpg

from ctx_core.environment.ports import HEALTH_OFFSET
from scripts.bench.faults.disk import Disk, open_disk
from scripts.bench.faults.launcher import Launcher
from scripts.bench.faults.program import Command, Program
from scripts.bench.faults.shim import Shim, compile_shim, shim_for
from scripts.bench.fixtures import postgres, qdrant
from scripts.bench.servers import FIRST_PORT, free_ports

QDRANT, POSTGRES, INDEXER = "qdrant", "postgres", "indexer"
MEMORY_SQLITE, MEMORY_POSTGRES = "memory-sqlite", "memory-postgres"
MEMORIES = (MEMORY_SQLITE, MEMORY_POSTGRES)
OURS = (*MEMORIES, INDEXER)
DISK_MB = {QDRANT: 1500, POSTGRES: 200, MEMORY_SQLITE: 120, MEMORY_POSTGRES: 120, INDEXER: 120}
ASK_SECONDS = 5.0
# A pause may last longer than ctx waits for one answer of Qdrant.
QDRANT_TIMEOUT_SECONDS = 2
MODEL = "static-minilm-256"  # loads in no time: a start costs as little as it can
POSTGRES_OPTIONS = postgres.OPTIONS | {
    "fsync": "on",
    "full_page_writes": "on",
    "max_wal_size": "32MB",
    "shared_buffers": "16MB",
}
PORTS_EACH = 3
# Worlds look for ports in different places: one must not take those of a program that is down.
PORT_STEP, PLACES = 20, 100


@dataclass(frozen=True)
class World:
    """The programs, disks and shims, by name, and where things are."""

    folder: Path
    programs: Mapping[str, Program]
    disks: Mapping[str, Disk]
    shims: Mapping[str, Shim]
    qdrant_url: str
    postgres_url: str
    ports: Mapping[str, int]

    def mcp(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}/mcp"

    def project(self, name: str) -> Path:
        """Return the git repository that a server works on."""
        return self.disks[name].folder / "project"

    def data(self, name: str) -> Path:
        return self.disks[name].folder / "data"


@contextlib.contextmanager
def running_world(parent: str | None) -> Iterator[World]:
    """Yield a world whose programs are ready, until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="ctx-faults-", dir=parent))
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        disks = {}
        for name, megabytes in DISK_MB.items():
            disks[name] = open_disk(folder / name, megabytes)
            stack.callback(disks[name].close)
        world = _compose(folder, disks, stack)
        for program in world.programs.values():
            stack.callback(_end, program)
        for names in ((QDRANT, POSTGRES), OURS):
            for name in names:
                world.programs[name].start()
            for name in names:
                world.programs[name].wait()
        yield world


def _end(program: Program) -> None:
    if program.pid is not None:
        program.resume()
        program.kill_all()


def _compose(folder: Path, disks: Mapping[str, Disk], stack: contextlib.ExitStack) -> World:
    library = compile_shim(folder)
    shims = {
        name: shim_for(library, folder / f"{name}.faults")
        for name in (POSTGRES, *OURS)
        if library is not None
    }
    numbers = free_ports(FIRST_PORT + os.getpid() % PLACES * PORT_STEP)
    ports = {name: list(itertools.islice(numbers, PORTS_EACH)) for name in (QDRANT, *OURS)}
    qdrant_url = f"http://127.0.0.1:{ports[QDRANT][0]}"
    postgres_url = postgres.url_of(disks[POSTGRES].folder)
    programs = {
        QDRANT: _qdrant(folder, disks[QDRANT].folder, qdrant_url, ports[QDRANT], stack),
        POSTGRES: _postgres(folder, disks[POSTGRES].folder, shims.get(POSTGRES), stack),
    }
    launcher = Launcher(library, folder / "launcher.log")
    stack.callback(launcher.close)
    for name in OURS:
        env = _environment(name, disks[name].folder, ports[name]) | {
            "QDRANT_URL": qdrant_url,
            "QDRANT_TIMEOUT_SECONDS": str(QDRANT_TIMEOUT_SECONDS),
            **({"DATABASE_URL": postgres_url} if name == MEMORY_POSTGRES else {}),
            **(shims[name].env if name in shims else {}),
        }
        _make_project(disks[name])
        programs[name] = _server(name, folder, launcher, env, ports[name][0])
    addresses = {name: numbers[0] for name, numbers in ports.items()}
    return World(folder, programs, disks, shims, qdrant_url, postgres_url, addresses)


def _qdrant(
    folder: Path, disk: Path, url: str, ports: list[int], stack: contextlib.ExitStack
) -> Program:
    programs = folder / "qdrant-program"
    programs.mkdir()
    env = qdrant.server_environment(disk, ports[0], ports[1]) | {
        "QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": "1",
    }
    program = qdrant.unprivileged(qdrant.find_binary(), programs)
    log = folder / "qdrant.log"
    command = Command([str(program)], env, folder, log)
    stack.callback(command.close)
    return Program(QDRANT, command.launch, log, lambda: answers(f"{url}/readyz"))


def _postgres(folder: Path, disk: Path, shim: Shim | None, stack: contextlib.ExitStack) -> Program:
    installed = folder / "postgres-programs"
    installed.mkdir()
    programs = postgres.install(installed)
    if os.geteuid() == 0:
        os.chown(disk, postgres.NOBODY, postgres.NOBODY)
    postgres.initialise(programs, disk, "--wal-segsize=1")

    def is_ready() -> bool:
        try:
            return bool(postgres.execute(postgres.url_of(disk), "SELECT 1"))
        except (OSError, asyncpg.PostgresError, TimeoutError):
            return False

    log = folder / "postgres.log"
    env = os.environ | (shim.env if shim else {})
    serving = postgres.server_command(programs, disk, POSTGRES_OPTIONS)
    command = Command(serving, env, folder, log)
    stack.callback(command.close)
    return Program(
        POSTGRES,
        command.launch,
        log,
        is_ready,
        dies_whole=True,
        stop_signal=signal.SIGINT,  # without waiting for its clients to go
    )


def _environment(name: str, disk: Path, ports: list[int]) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("CTX_", "QDRANT_"))}
    service = "INDEXER" if name == INDEXER else "MEMORY"
    collections = {
        f"{purpose.upper()}_COLLECTION_NAME": collection(name, purpose)
        for purpose in ("memory", "threads", "knowledge", "conversations")
    }
    return inherited | {
        "CTX_DATA_DIR": str(disk / "data"),
        "CTX_WORKSPACE": str(disk / "project"),
        "COLLECTION_NAME": collection(name, "code"),
        **collections,
        f"CTX_{service}_HTTP_PORT": str(ports[0]),
        f"CTX_{service}_SSE_PORT": str(ports[1]),
        "PORT": str(ports[2]),
        "MEMORY_EMBEDDING_MODEL": MODEL,
        "CTX_INDEX_WORKERS": "1",
        "CTX_LOG_LEVEL": "warning",
    }


def _server(
    name: str, folder: Path, launcher: Launcher, env: Mapping[str, str], port: int
) -> Program:
    module = "ctx_indexer" if name == INDEXER else "ctx_memory"
    url, log = f"http://127.0.0.1:{port + HEALTH_OFFSET}/readyz", folder / f"{name}.log"
    return Program(name, partial(launcher.launch, module, env, log), log, lambda: answers(url))


def _make_project(disk: Disk) -> None:
    """A repository with one commit, and a remote beside it."""
    project, remote = disk.folder / "project", disk.folder / "remote.git"
    for command in (
        ["init", "-q", "-b", "main", str(project)],
        ["init", "-q", "-b", "main", "--bare", str(remote)],
        ["-C", str(remote), "config", "core.fsync", "all"],  # as a host of repositories does
        ["-C", str(project), "config", "user.name", "bench"],
        ["-C", str(project), "config", "user.email", "bench@example.org"],
        ["-C", str(project), "commit", "-q", "--allow-empty", "-m", "Begin"],
        ["-C", str(project), "remote", "add", "origin", str(remote)],
        ["-C", str(project), "push", "-q", "-u", "origin", "main"],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True)
    disk.sync()


def collection(name: str, purpose: str) -> str:
    """Name the collection of a server for a purpose."""
    return f"{name}-{purpose}"


def answers(url: str) -> bool:
    """Whether a URL is answered with 200. Blocks."""
    try:
        with urllib.request.urlopen(url, timeout=ASK_SECONDS):
            return True
    except (urllib.error.URLError, OSError):
        return False
