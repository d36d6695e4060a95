"""A process that was asked to stop ends, whatever hangs in it."""

import subprocess
import sys
import time

import pytest

from ctx_core.serving.stopping import EXIT_FORCED

PATIENCE = 20.0
HANGING = {
    "a thread": "threading.Thread(target=time.sleep, args=(600,)).start()",
    "the main thread": "time.sleep(600)",
    "a callback at the end": "atexit.register(time.sleep, 600)",
}


@pytest.mark.parametrize("what", HANGING)
def test_a_process_that_hangs_is_ended_by_force(what: str) -> None:
    program = "import atexit, threading, time\n"
    program += "from ctx_core.serving.stopping import end_within\nend_within(0.5)\n"
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", program + HANGING[what]],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == EXIT_FORCED
    assert "did not end in time" in ended.stderr
    assert "Thread 0x" in ended.stderr
    assert time.monotonic() - started < PATIENCE
