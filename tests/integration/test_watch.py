"""Whole processes that follow files: `ctx up`, `ctx watch`, a crash in between."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT, Server, environment, run_ctx, running
from tests.support.repositories import Repository, function

SECONDS = 40.0


def until(is_true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_true():
        assert time.monotonic() < deadline, f"not within {SECONDS} s: {what}"
        time.sleep(0.1)


def health(server: Server, path: str = "/readyz") -> str:
    with urllib.request.urlopen(f"{server.indexer_health}{path}", timeout=10) as answer:
        return str(answer.read().decode())


def watched(server: Server) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(health(server))["watch"]
    return {each["path"]: each for each in found}


def finds(server: Server, name: str, cwd: Path) -> bool:
    shown = run_ctx(server.env, "search", name, "--json", cwd=cwd)
    if shown.returncode:
        return False
    hits = json.loads(shown.stdout)["results"]
    return any(hit["symbol"] == name for hit in hits)


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "project")
    made.write("a.py", function("alpha"))
    made.commit()
    return made


def test_the_folder_of_ctx_up_is_indexed_and_followed(tmp_path: Path, project: Repository) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(project.root), CTX_WATCH="1")
    with running(env) as server:
        root = str(project.root)
        until(lambda: watched(server).get(root, {}).get("state") == "following", "following")
        project.write("b.py", function("bravo"))
        until(lambda: finds(server, "bravo", project.root), "bravo")

        shown = json.loads(run_ctx(env, "status", "--json").stdout)
        [workspace] = shown["workspaces"]
        assert workspace["watch"]["state"] == "following"
        assert workspace["watch"]["pending"] == 0
        assert "following" in run_ctx(env, "status").stdout
        metrics = health(server, "/metrics")
        assert 'ctx_watch_workspaces{service="indexer"} 1.0' in metrics
        assert 'ctx_watch_lag_seconds{service="indexer"} 0.0' in metrics

        said = run_ctx(env, "watch", root)
        assert (said.returncode, said.stdout) == (0, f"The running indexer follows {root}.\n")

        other = Repository.create(tmp_path / "other")
        other.write("c.py", function("charlie"))
        assert json.loads(run_ctx(env, "watch", str(other.root), "--json").stdout)["ok"] is True
        assert str(other.root) in watched(server)

        server.kill()  # while it follows
    project.write("c.py", function("delta"))
    project.remove("b.py")
    with running(env) as server:
        until(lambda: set(watched(server)) == {root, str(other.root)}, "both after a restart")
        until(lambda: finds(server, "delta", project.root), "what changed meanwhile")
        assert not finds(server, "bravo", project.root)
        project.write("c.py", function("echo"))
        until(lambda: finds(server, "echo", project.root), "echo")


def test_following_can_be_switched_off(tmp_path: Path, project: Repository) -> None:
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(project.root), CTX_WATCH="0")
    with running(env) as server:
        assert "watch" not in json.loads(health(server))
        refused = run_ctx(env, "watch", str(project.root))
        assert refused.returncode == 2
        assert "CTX_WATCH=1" in refused.stderr
        assert json.loads(run_ctx(env, "status", "--json").stdout)["workspaces"] == []


def test_ctx_watch_alone(tmp_path: Path, project: Repository) -> None:
    env = environment(tmp_path / "data")
    process = subprocess.Popen(
        [sys.executable, "-m", "ctx", "watch", str(project.root), "--json"],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        events = (json.loads(line) for line in process.stdout)
        first = next(events)
        assert (first["event"], first["files"]) == ("indexed", 1)
        assert next(events)["state"] == "following"
        project.write("b.py", function("bravo"))
        update = next(event for event in events if event["event"] == "update")
        assert (update["added"], update["changed"], update["removed"]) == (1, 0, 0)
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()
    shown = run_ctx(env, "search", "bravo", "--json", cwd=project.root)
    assert json.loads(shown.stdout)["results"][0]["symbol"] == "bravo"
