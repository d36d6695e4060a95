"""The start of a server process."""

import subprocess
import sys
from pathlib import Path

from tests.support.processes import environment

START = """
from ctx_core.serving.process import serve_until_stopped

async def run(settings):
    print("started")

serve_until_stopped(run)
"""


def test_a_start_logs_a_setting_that_is_none_any_more(tmp_path: Path) -> None:
    env = environment(tmp_path, CTX_MIN_FREE_MB="1")
    done = subprocess.run(
        [sys.executable, "-c", START], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "started\n"
    assert done.stderr.count("WARNING") == 1
    assert "CTX_MIN_FREE_MB is no longer a setting: the embedded Qdrant writes" in done.stderr
