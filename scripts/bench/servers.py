"""Servers to measure: started as a user starts them, on free ports, until the block ends."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ctx_core.environment.ports import HEALTH_OFFSET
from scripts.bench.figures import ROOT

# Health ports stay below the range that the system gives to clients: there a poll of a port that
# nobody listens on may connect to itself.
FIRST_PORT = 15_000
LAST_PORT = 17_900
READY_SECONDS = 120.0
STOP_SECONDS = 20.0
POLL_SECONDS = 0.01
UP = ("-m", "ctx", "up", "--json")


@dataclass(frozen=True)
class Server:
    """A running process and where it answers."""

    process: "subprocess.Popen[bytes]"
    memory_http: str
    indexer_http: str


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """Return our environment with free ports, this data folder and these settings.

    Nothing is indexed that is not asked for.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("CTX_", "QDRANT_"))}
    names = [f"CTX_{name}_PORT" for name in ("MEMORY_HTTP", "MEMORY_SSE", "INDEXER_HTTP")]
    names += ["CTX_INDEXER_SSE_PORT", "CTX_HTTP_PORT", "PORT"]
    ports = {name: str(port) for name, port in zip(names, free_ports(), strict=False)}
    return inherited | ports | {"CTX_DATA_DIR": str(data_dir), "CTX_WATCH": "0"} | settings


@contextlib.contextmanager
def running(env: Mapping[str, str], *command: str) -> Iterator[Server]:
    """Run `ctx up`, or another Python command line, from ready on until the block ends."""
    process = subprocess.Popen(
        [sys.executable, *(command or UP)], cwd=ROOT, env=dict(env), stdout=subprocess.DEVNULL
    )
    try:
        service = "INDEXER" if "ctx_indexer" in command else "MEMORY"
        _wait_until_ready(process, int(env[f"CTX_{service}_HTTP_PORT"]) + HEALTH_OFFSET)
        yield Server(process, _url(env, "MEMORY"), _url(env, "INDEXER"))
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _url(env: Mapping[str, str], service: str) -> str:
    return f"http://127.0.0.1:{env[f'CTX_{service}_HTTP_PORT']}/mcp"


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.perf_counter() + READY_SECONDS
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}; see above")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=READY_SECONDS):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(POLL_SECONDS)
    raise TimeoutError(f"port {port} did not answer 200 in {READY_SECONDS} s")


def free_ports(first: int = FIRST_PORT) -> Iterator[int]:
    """Yield ports that are free now together with their health ports."""
    for port in range(first, LAST_PORT):
        if _is_free(port) and _is_free(port + HEALTH_OFFSET):
            yield port


def _is_free(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
