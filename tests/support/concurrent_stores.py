"""Runs scripts/bench/stores.py, which does the same at length."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench" / "stores.py"


def run_stores(
    request: pytest.FixtureRequest, database: str, work: Path, *arguments: str
) -> dict[str, Any]:
    """The report; a failed assertion shows what the script said."""
    env = dict(os.environ)
    if database == "postgresql":
        env["POSTGRES_TEST_URL"] = request.getfixturevalue("postgres_server")
    command = [sys.executable, str(SCRIPT), *arguments, "--database", database]
    command += ["--work", str(work)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
