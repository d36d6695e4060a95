"""How long commands take in total: `ctx --help`, and calls of a running server.

    .venv/bin/python -m scripts.bench.command_line

CPU seconds of the command's process and wall seconds, the least of several runs: the machine is
never idle.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROUNDS = 9
CALLS: Mapping[str, Sequence[str]] = {
    "ctx --help": ["--help"],
    "ctx status": ["status"],
    "ctx search": ["search", "how are retries done"],
    "ctx recall": ["recall", "what do deploys need"],
}
SOURCE = "def retry(call):\n    for _ in range(3):\n        call()\n"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        project.mkdir()
        (project / "retries.py").write_text(SOURCE)
        # Only our own variables: what is measured is what a user has.
        env = os.environ | {"CTX_DATA_DIR": f"{folder}/data", "CTX_WORKSPACE": str(project)}
        _ctx(env, "up", "--detach")
        try:
            _ctx(env, "index")
            _ctx(env, "remember", "Deploys need the VPN.")
            figures = {name: _measure(env, call) for name, call in CALLS.items()}
        finally:
            _ctx(env, "down")
    print(json.dumps(figures, indent=2))
    return 0


def _measure(env: Mapping[str, str], call: Sequence[str]) -> dict[str, float]:
    """Return the least CPU and wall seconds of a command."""
    cpu, wall = [], []
    for _ in range(ROUNDS):
        before, started = os.times(), time.perf_counter()
        _ctx(env, *call)
        wall.append(time.perf_counter() - started)
        after = os.times()
        used = after.children_user + after.children_system
        cpu.append(used - before.children_user - before.children_system)
    return {"cpu_seconds": round(min(cpu), 3), "wall_seconds": round(min(wall), 3)}


def _ctx(env: Mapping[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "ctx", *arguments]
    subprocess.run(command, env=dict(env), capture_output=True, check=True)


if __name__ == "__main__":
    sys.exit(main())
