"""`ctx status`."""

import json
from pathlib import Path

from ctx.commands.servers.status import workspace_line
from ctx_indexer.indexing.workspace_state import COMPLETED, IN_PROGRESS
from tests.support.processes import environment, run_ctx


def test_status_when_nothing_runs(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    shown = run_ctx(env, "status")
    assert shown.returncode == 1
    assert "ctx up" in shown.stdout
    assert json.loads(run_ctx(env, "status", "--json").stdout)["ok"] is False


def test_a_run_that_is_under_way_has_no_age_yet() -> None:
    """What the state had from a run before is not the age of what is there now."""
    indexed = {"path": "/shop", "repo": "shop", "collection": "codebase", "files": 0, "chunks": 0}
    line = workspace_line({**indexed, "state": IN_PROGRESS, "last_indexed": "2026-01-01T00:00:00Z"})
    assert line.endswith("0 chunks, in progress")
    done = workspace_line({**indexed, "state": COMPLETED, "last_indexed": "2026-01-01T00:00:00Z"})
    assert done.endswith(" d old")
