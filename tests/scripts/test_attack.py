"""The attack script: one attack on a server and one on a data folder, each with its figures."""

import json
import subprocess
import sys

import pytest

from tests.support.processes import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["false hosts and origins", "lost names of collections"])
def test_an_attack_reports_what_was_tried_and_what_held(attack: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.bench.attacks", "--only", attack, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [result] = json.loads(done.stdout)
    assert result["name"] == attack
    assert result["tried"] == result["held"] > 0
    assert result["broken"] == []
