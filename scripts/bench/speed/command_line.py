"""How long commands take in total: `ctx --help`, calls of a running server, a cold `ctx stdio`.

    .venv/bin/python -m scripts.bench.speed.command_line

CPU seconds of the command's process and wall seconds, the least of several runs: the machine is
never idle. Of `ctx stdio` the wall seconds from its start to each answer, with no server running:
`chrt -f 1` before the command gives it a core of its own where others compute.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.bench.arguments import program_parser

ROUNDS = 9
CALLS: Mapping[str, Sequence[str]] = {
    "ctx --help": ["--help"],
    "ctx status": ["status"],
    "ctx search": ["search", "how are retries done"],
    "ctx recall": ["recall", "what do deploys need"],
}
COLD_ROUNDS = 3
FIRST_CALLS: Mapping[str, Mapping[str, object]] = {
    "indexer": {"name": "repo_search", "arguments": {"query": "how are retries done"}},
    "memory": {"name": "find", "arguments": {"query": "what do deploys need"}},
}
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
SOURCE = "def retry(call):\n    for _ in range(3):\n        call()\n"


def main() -> int:
    program_parser(__doc__).parse_args()
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
        for server, call in FIRST_CALLS.items():
            runs = [_cold(env, project, server, call) for _ in range(COLD_ROUNDS)]
            figures[f"ctx stdio {server}"] = min(runs, key=lambda run: run["first_call"])
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


def _cold(
    env: Mapping[str, str], folder: Path, server: str, call: Mapping[str, object]
) -> dict[str, float]:
    """Return the seconds from the start of `ctx stdio` to its first answers."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "ctx", "stdio", server]
    with subprocess.Popen(
        command, env=dict(env), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"initialize": INITIALIZE, "tools/list": {}, "tools/call": call}
        seconds = {}
        for number, (method, params) in enumerate(asked.items()):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if answer.get("id") != number or answer["result"].get("isError"):
                raise SystemExit(f"ctx stdio {server}: {method} answered {answer}")
            seconds[method] = round(time.perf_counter() - started, 2)
        process.stdin.close()
    _ctx(env, "down")
    return {
        "initialize": seconds["initialize"],
        "list": seconds["tools/list"],
        "first_call": seconds["tools/call"],
    }


def _ctx(env: Mapping[str, str], *arguments: str) -> None:
    command = [sys.executable, "-m", "ctx", *arguments]
    subprocess.run(command, env=dict(env), capture_output=True, check=True)


if __name__ == "__main__":
    sys.exit(main())
