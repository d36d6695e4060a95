"""Real ctx processes for tests: started as a user starts them, on free ports."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Their health ports, 10,000 higher, stay below the range that the system gives to clients.
FIRST_PORT, LAST_PORT = 20_000, 22_700
MOST_WORKERS = 4  # that test side by side, as scripts/test says
START_SECONDS = 60.0  # a loaded machine, not a target: what is promised is measured elsewhere
STOP_SECONDS = 20.0
COMMAND_SECONDS = 120.0


@dataclass
class Server:
    """A running process and where it answers."""

    process: "subprocess.Popen[str]"
    env: Mapping[str, str]
    memory_http: str
    memory_sse: str
    indexer_http: str
    indexer_sse: str
    both_http: str
    memory_health: str
    indexer_health: str
    rest: str

    def kill(self) -> None:
        """kill -9, as a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ask it to stop, and return its exit code."""
        self.process.send_signal(how)
        return self.process.wait(STOP_SECONDS)

    def stderr(self) -> str:
        return Path(self.env["TEST_LOG"]).read_text()


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of a test process: ours, free ports, a data folder of its own."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("CTX_", "QDRANT_"))}
    names = [f"CTX_{name}_PORT" for name in ("MEMORY_HTTP", "MEMORY_SSE", "INDEXER_HTTP")]
    names += ["CTX_INDEXER_SSE_PORT", "CTX_HTTP_PORT", "PORT"]
    ports = {name: str(port) for name, port in zip(names, _free_ports(len(names)), strict=True)}
    # Tests say themselves what is indexed: following this repository would take every core.
    return inherited | ports | {"CTX_DATA_DIR": str(data_dir), "CTX_WATCH": "0"} | settings


@contextlib.contextmanager
def running(
    env: Mapping[str, str],
    *command: str,
    cwd: Path = ROOT,
    launcher: Sequence[str] = (),
    python: str = sys.executable,
) -> Iterator[Server]:
    """`ctx up` (or another command) until the block ends; killed if it does not stop by itself.

    `launcher` is a program that starts it, such as one that becomes another user.
    """
    log = Path(env["CTX_DATA_DIR"]).with_suffix(".log")
    arguments = command or ("-m", "ctx", "up", "--json")
    with log.open("a") as stderr:
        process = subprocess.Popen(
            [*launcher, python, *arguments],
            cwd=cwd,
            env=dict(env),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    server = _server(process, {**env, "TEST_LOG": str(log)})
    try:
        wait_until_ready(server, "indexer" if "ctx_indexer" in arguments else "memory")
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            process.kill()
        process.communicate()


def run_ctx(
    env: Mapping[str, str], *arguments: str, cwd: Path = ROOT
) -> "subprocess.CompletedProcess[str]":
    """One command of `ctx`, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "ctx", *arguments],
        cwd=cwd,
        env={**env, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


def wait_until_ready(server: Server, service: str) -> None:
    import urllib.error
    import urllib.request

    url = server.indexer_health if service == "indexer" else server.memory_health
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise AssertionError(f"exited with {server.process.returncode}:\n{server.stderr()}")
        try:
            with urllib.request.urlopen(f"{url}/livez", timeout=1) as answer:
                assert json.load(answer)["service"] == service
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise AssertionError(f"not ready after {START_SECONDS} s:\n{server.stderr()}")


def _server(process: "subprocess.Popen[str]", env: Mapping[str, str]) -> Server:
    def at(name: str, path: str = "", offset: int = 0) -> str:
        return f"http://127.0.0.1:{int(env[f'CTX_{name}_PORT']) + offset}{path}"

    return Server(
        process,
        env,
        memory_http=at("MEMORY_HTTP", "/mcp"),
        memory_sse=at("MEMORY_SSE", "/sse"),
        indexer_http=at("INDEXER_HTTP", "/mcp"),
        indexer_sse=at("INDEXER_SSE", "/sse"),
        both_http=at("HTTP", "/mcp") if "CTX_HTTP_PORT" in env else "",  # none before 0.1
        memory_health=at("MEMORY_HTTP", offset=10_000),
        indexer_health=at("INDEXER_HTTP", offset=10_000),
        rest=f"http://127.0.0.1:{env['PORT']}",
    )


def _free_ports(count: int = 4) -> list[int]:
    """Ports that are free now, together with their health ports, and no other worker's."""
    found: list[int] = []
    share = (LAST_PORT - FIRST_PORT) // MOST_WORKERS
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % MOST_WORKERS
    first = FIRST_PORT + worker * share
    start = first + os.getpid() * 8 % share
    for port in [*range(start, first + share), *range(first, start)]:
        if port not in _given and _is_free(port) and _is_free(port + 10_000):
            found.append(port)
            _given.add(port)
        if len(found) == count:
            return found
    if _given:  # all were given out: those of servers that ended are free again
        _given.clear()
        return _free_ports(count)
    raise AssertionError("no free ports")


_given: set[int] = set()


def _is_free(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
