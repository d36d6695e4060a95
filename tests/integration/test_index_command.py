"""`ctx index` beside a running indexer, which owns the data folder."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import ROOT, Server, environment, running
from tests.support.repositories import Repository, function


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    inner = Repository.create(tmp_path / "projects" / "inner")
    inner.write("src/a.py", function("alpha"))
    inner.write("b.py", function("beta"))
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(tmp_path / "projects"))
    with running(env) as started:
        yield started


def ctx_index(server: Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "ctx", "index", *arguments],
        cwd=ROOT,
        env=dict(server.env) | {"PYTHONWARNINGS": "error::ResourceWarning"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_server_does_the_work(server: Server, tmp_path: Path) -> None:
    inner = tmp_path / "projects" / "inner"
    part = json.loads(ctx_index(server, str(inner / "src"), "--json").stdout)
    assert (part["repo"], part["subdir"], part["stats"]["files_added"]) == ("inner", "src", 1)
    shown = ctx_index(server, str(inner))
    assert shown.returncode == 0, shown.stderr
    assert "1 added, 0 changed, 0 removed, 1 unchanged" in shown.stdout
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "a.py").write_text("def somewhere_else(): ...\n")
    assert ctx_index(server, str(outside)).returncode == 0
    named = ctx_index(server, str(inner), "--repo", "other")
    assert named.returncode == 2
    assert "CURRENT_REPO" in named.stderr


def test_an_indexer_elsewhere_indexes_its_workspace(server: Server) -> None:
    done = ctx_index(server, "--at", server.indexer_http, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stats"]["files_added"] == 2
    assert ctx_index(server, "/tmp", "--at", server.indexer_http).returncode == 2
    nobody = ctx_index(server, "--at", "http://127.0.0.1:9/mcp")
    assert nobody.returncode == 3
    assert "No ctx server answers" in nobody.stderr
