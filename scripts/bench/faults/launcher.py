"""Starts servers again and again by forking a process that has imported them: a start is short.

Each line of its input is an order (a module, an environment, a log file) in JSON, each line of its
output the id of a process that serves. `Launcher` is the other end.
"""

import ctypes
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from ctx_core.serving.process import main
from scripts.bench.figures import ROOT

MODULES = ("ctx_memory", "ctx_indexer")
# What servers import when they begin to serve.
LATE = ("griffe", "uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl", "uvloop")


class Launcher:
    """A process that starts servers; `library` is preloaded into it and so into them."""

    def __init__(self, library: Path | None, log: Path) -> None:
        preloaded = {"LD_PRELOAD": str(library)} if library else {}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scripts.bench.faults.launcher"],
                cwd=ROOT,
                env=os.environ | preloaded,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def launch(self, module: str, env: Mapping[str, str], log: Path) -> int:
        """Start a server and return its process id. Blocks while the first one is imported."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"module": module, "env": dict(env), "log": str(log)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def serve() -> None:
    """Fork a server for each line of the input."""
    servers = {module: importlib.import_module(f"{module}.process") for module in MODULES}
    for late in LATE:
        importlib.import_module(late)
    signal.signal(signal.SIGCHLD, _reap)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(order["env"], Path(order["log"]))
            module = order["module"]
            main(module.removeprefix("ctx_"), servers[module].run)
        print(pid, flush=True)


def _become(env: Mapping[str, str], log: Path) -> None:
    """Let go of what belongs to the launcher, and take on the environment of a server."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with Path(os.devnull).open("rb") as nothing, log.open("ab") as opened:
        os.dup2(nothing.fileno(), 0)
        os.dup2(opened.fileno(), 1)
        os.dup2(opened.fileno(), 2)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = sys.argv[:1]
    if "LD_PRELOAD" in env:
        ctypes.CDLL(None).read_faults_file()  # the shim looked for it before the fork


def _reap(number: int, frame: FrameType | None) -> None:
    del number, frame
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    serve()
