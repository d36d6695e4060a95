"""Runs scripts.bench.memory.stores, which does the same at length."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT

PROGRAM = "scripts.bench.memory.stores"


def run_stores(
    request: pytest.FixtureRequest, database: str, work: Path, *arguments: str
) -> dict[str, Any]:
    """The report; a failed assertion shows what the script said."""
    env = dict(os.environ)
    if database == "postgresql":
        env["POSTGRES_TEST_URL"] = request.getfixturevalue("postgres_server")
    command = [sys.executable, "-m", PROGRAM, *arguments, "--database", database]
    command += ["--work", str(work)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
