"""`ctx up --detach`, `down` and `logs`."""

import json
from pathlib import Path

import pytest

from ctx.background import LOG_FILE, LOG_FOLDER, last_lines
from tests.support.processes import environment, run_ctx, running


@pytest.mark.slow
def test_servers_run_in_the_background_until_they_are_stopped(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(tmp_path))
    nothing = run_ctx(env, "down", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)["stopped"]) == (1, None)
    assert run_ctx(env, "logs").returncode == 1
    started = run_ctx(env, "up", "--detach", "--json")
    assert started.returncode == 0, started.stderr
    body = json.loads(started.stdout)
    try:
        assert (body["ok"], body["started"]) == (True, True)
        assert run_ctx(env, "status").returncode == 0
        again = json.loads(run_ctx(env, "up", "-d", "--json").stdout)
        assert (again["started"], again["pid"]) == (False, body["pid"])
        shown = run_ctx(env, "logs", "--json")
        assert shown.returncode == 0
        assert any('"ready": true' in line for line in json.loads(shown.stdout)["lines"])
    finally:
        stopped = run_ctx(env, "down", "--json")
    assert json.loads(stopped.stdout)["stopped"]["pid"] == body["pid"]
    assert run_ctx(env, "status").returncode == 1
    assert "Nothing runs" in run_ctx(env, "down").stdout


@pytest.mark.slow
def test_down_also_stops_what_runs_in_the_foreground(tmp_path: Path) -> None:
    with running(environment(tmp_path / "data")) as server:
        assert run_ctx(dict(server.env), "down").returncode == 0
        assert server.process.wait(20) == 0


@pytest.mark.slow
def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "data" / "vectors").parent.mkdir()
    (tmp_path / "data" / "vectors").write_text("a file in the way")
    failed = run_ctx(environment(tmp_path / "data"), "up", "--detach")
    assert failed.returncode == 3
    assert "vectors" in failed.stderr
    assert "did not start" in failed.stderr


def test_the_end_of_a_log(tmp_path: Path) -> None:
    file = tmp_path / LOG_FOLDER / LOG_FILE
    assert last_lines(file, 5) == []
    file.parent.mkdir()
    file.write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert last_lines(file, 2) == ["line 99998", "line 99999"]
