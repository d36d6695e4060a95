"""A client that starts the server itself and speaks over its standard input."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT, environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}


def start(folder: Path, transports: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-m", "ctx_memory", "--transports", transports],
        cwd=ROOT,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "ctx-memory"
    return process


@pytest.mark.parametrize(
    ("transports", "how"),
    [
        ("stdio", signal.SIGTERM),
        ("stdio", None),
        ("http,sse,stdio", signal.SIGINT),
        ("http,sse,stdio", None),
    ],
)
def test_it_stops_at_a_signal_or_at_the_end_of_input(
    tmp_path: Path, transports: str, how: signal.Signals | None
) -> None:
    with start(tmp_path / "data", transports) as process:
        assert process.stdin is not None
        if how is None:
            process.stdin.close()
        else:
            process.send_signal(how)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_an_unknown_transport_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ctx_memory", "--transports", "pigeon"],
        cwd=ROOT,
        env=environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "unknown transport pigeon" in done.stderr
