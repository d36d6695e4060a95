"""`ctx status`."""

import json
from pathlib import Path

from tests.support.processes import environment, run_ctx


def test_status_when_nothing_runs(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    shown = run_ctx(env, "status")
    assert shown.returncode == 1
    assert "ctx up" in shown.stdout
    assert json.loads(run_ctx(env, "status", "--json").stdout)["ok"] is False
