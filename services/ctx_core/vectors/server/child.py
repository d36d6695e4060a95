"""Run a Qdrant server binary of the user as a child process."""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import httpx

from ctx_core.errors import StorageFailed

if sys.platform != "win32":
    import fcntl

LOOPBACK = "127.0.0.1"
STORAGE_FOLDER = "storage"
SNAPSHOTS_FOLDER = "snapshots"
LOG_FILE = "qdrant.log"
# Held by the child itself, so that the lock shows whether it runs, even after we were killed.
LOCK_FILE = "child.lock"
PID_FILE = "child.pid"

# An empty server is ready in 0.2 s; one that replays its log after a crash takes longer.
READY_SECONDS = 60.0
# A graceful stop flushes; after this it is killed, and replays its log at the next start.
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05
# A free port may be taken by another process before the child binds it.
MAX_STARTS = 3
LOG_TAIL_LINES = 15


class QdrantChild:
    """A running server with its URL and API key."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, key: str, log: Path) -> None:
        self._process = process
        self.url = url
        self.api_key = key
        self.log = log

    @classmethod
    async def start(cls, binary: Path, folder: Path) -> "QdrantChild":
        """Start the server with its storage in the folder, and return when it is ready.

        The caller must hold the folder's lock. Raises StorageFailed, with the end of the log.
        """
        program = _prepare(binary, folder)
        for attempt in range(1, MAX_STARTS + 1):
            await _stop_leftover(folder)
            child = _spawn(program, folder)
            try:
                await child._wait_until_ready()
            except StorageFailed:
                await child.stop()
                if attempt == MAX_STARTS or not child._lost_its_port():
                    raise
            except BaseException:
                await child.stop()
                raise
            else:
                return child
        raise AssertionError("unreachable")

    async def stop(self) -> None:
        """Terminate the server; kill it after STOP_SECONDS."""
        if self._process.poll() is None:
            self._process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while self._process.poll() is None:
            if time.monotonic() > deadline:
                self._process.kill()
            await asyncio.sleep(POLL_SECONDS)

    async def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        # A proxy named in the environment is not for loopback.
        async with httpx.AsyncClient(trust_env=False, timeout=2.0) as http:
            while time.monotonic() < deadline:
                if (code := self._process.poll()) is not None:
                    raise self._failure(f"ended with code {code}")
                with contextlib.suppress(httpx.HTTPError):
                    if (await http.get(f"{self.url}/readyz")).is_success:
                        return
                await asyncio.sleep(POLL_SECONDS)
        raise self._failure(f"was not ready after {READY_SECONDS:g} s")

    def _failure(self, reason: str) -> StorageFailed:
        return StorageFailed(
            f"the Qdrant server of QDRANT_BIN {reason}. The end of {self.log}:\n{self._tail()}",
            log=str(self.log),
        )

    def _tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:])

    def _lost_its_port(self) -> bool:
        return "Address already in use" in self._tail()


def _prepare(binary: Path, folder: Path) -> Path:
    if sys.platform == "win32":
        raise StorageFailed(
            "QDRANT_BIN is not supported on Windows: run the server yourself and set QDRANT_URL "
            "to its address"
        )
    if binary.is_dir() or not os.access(binary, os.X_OK):
        raise StorageFailed(f"QDRANT_BIN={binary} is not a program that can be run")
    folder.mkdir(parents=True, exist_ok=True)
    return binary.resolve()


def _spawn(binary: Path, folder: Path) -> QdrantChild:
    http_port, grpc_port = _free_ports(2)
    key = secrets.token_urlsafe(32)
    log = folder / LOG_FILE
    script = Path(__file__).with_name("child_exec.py")
    pid_file = folder / PID_FILE
    with log.open("wb") as out, (folder / LOCK_FILE).open("wb") as lock:
        _lock(lock)
        process = subprocess.Popen(
            [sys.executable, "-I", script, str(os.getpid()), pid_file, binary],
            cwd=folder,  # it reads config/ and writes a marker file in its working folder
            env=_environment(folder, http_port, grpc_port, key),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            pass_fds=(lock.fileno(),),
            start_new_session=True,  # Ctrl-C must not reach it: we stop it
        )
    return QdrantChild(process, f"http://{LOOPBACK}:{http_port}", key, log)


def _environment(folder: Path, http_port: int, grpc_port: int, key: str) -> dict[str, str]:
    """Return the child's whole environment. The key keeps other users of the machine out."""
    return {
        "QDRANT__SERVICE__HOST": LOOPBACK,
        "QDRANT__SERVICE__HTTP_PORT": str(http_port),
        "QDRANT__SERVICE__GRPC_PORT": str(grpc_port),
        "QDRANT__SERVICE__API_KEY": key,
        "QDRANT__SERVICE__ENABLE_STATIC_CONTENT": "false",
        "QDRANT__STORAGE__STORAGE_PATH": str(folder / STORAGE_FOLDER),
        "QDRANT__STORAGE__SNAPSHOTS_PATH": str(folder / SNAPSHOTS_FOLDER),
        "QDRANT__TELEMETRY_DISABLED": "true",
    }


def _free_ports(count: int) -> list[int]:
    """Find free ports; all stay bound until the last is found, so that they differ."""
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(count):
            listener = held.enter_context(socket.socket())
            listener.bind((LOOPBACK, 0))
            ports.append(int(listener.getsockname()[1]))
        return ports


async def _stop_leftover(folder: Path) -> None:
    """Stop a child that outlived its parent: two servers would damage one storage."""
    deadline = time.monotonic() + STOP_SECONDS
    while _is_locked(folder / LOCK_FILE):
        _signal_leftover(folder, kill=time.monotonic() > deadline)
        if time.monotonic() > deadline + STOP_SECONDS:
            raise StorageFailed(
                f"a Qdrant server still uses {folder}; its process id is in {folder / PID_FILE}: "
                "stop it"
            )
        await asyncio.sleep(POLL_SECONDS)


def _signal_leftover(folder: Path, *, kill: bool) -> None:
    # The lock is held, so the process that wrote this id runs and no other has the id.
    with contextlib.suppress(OSError, ValueError):
        pid = int((folder / PID_FILE).read_text(encoding="utf-8"))
        os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)


def _is_locked(path: Path) -> bool:
    with path.open("ab") as lock:
        try:
            _lock(lock)
        except BlockingIOError:
            return True
        return False


def _lock(lock: IO[bytes]) -> None:
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
