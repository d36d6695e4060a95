"""A wheel in an empty environment is all that ctx needs, and an upgrade keeps the data."""

import asyncio
import io
import json
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ctx_core.serving.mcp.client import call_tool
from tests.support.processes import ROOT, environment, run_ctx, running
from tests.support.repositories import Repository, function
from tests.support.wheel import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# The last commit before the folders were laid out anew: its code writes the older formats.
EARLIER_RELEASE = "05d7600"
LATER_SETTINGS = {"CTX_WATCH", "CTX_HTTP_PORT"}  # that tests set, and the earlier release refuses
PACKAGES = {"ctx", "ctx_core", "ctx_indexer", "ctx_memory"}
SCRIPTS = "ctx/bin/"  # an installer puts these among its programs


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = run("git", "ls-files", "ctx", "services", cwd=ROOT).splitlines()
    shipped = {each.removeprefix("services/") for each in tracked if not each.startswith(SCRIPTS)}
    assert len([each for each in shipped if each.endswith((".scm", ".onnx", ".npy"))]) > 50
    assert shipped - names == set()
    tops = {each.partition("/")[0] for each in names}
    assert {each for each in tops if not each.endswith((".data", ".dist-info"))} == PACKAGES
    assert {each for each in names if not each.startswith("ctx")} == set()
    [data] = {each for each in tops if each.endswith(".data")}
    inside = {each for each in names if each.startswith(data)}
    assert inside == {f"{data}/scripts/ctx", f"{data}/scripts/ctx-engine"}


def test_an_empty_environment_needs_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = Repository.create(home / "project")
    project.write("alpha.py", function("alpha"))
    env = environment(tmp_path / "data", HOME=str(home), PATH=os.defpath)
    env.pop("PYTHONPATH", None)

    def ctx(*arguments: str) -> str:
        return run(str(installed / "ctx"), *arguments, cwd=project.root, env=env)

    assert ctx("version").startswith("ctx ")
    by_its_name = str(installed / "ctx-engine")  # what `uvx ctx-engine` runs
    assert run(by_its_name, "version", cwd=tmp_path, env=env) == ctx("version")
    started = json.loads(ctx("up", "--detach", "--json"))
    try:
        assert started["ok"]
        ctx("init")
        assert "alpha.py:1" in ctx("search", "alpha")
        ctx("remember", "Deploys need the VPN.")
        assert "VPN" in ctx("recall", "what do deploys need")
        assert "All is well" in ctx("doctor")
    finally:
        ctx("down")


def earlier_release(folder: Path) -> Path:
    """The code of an earlier release, out of the history."""
    archive = subprocess.run(
        ["git", "archive", EARLIER_RELEASE, "ctx", "services"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if archive.returncode != 0:
        pytest.skip(f"the history here does not have {EARLIER_RELEASE}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def test_an_upgrade_keeps_the_data(tmp_path: Path) -> None:
    project = Repository.create(tmp_path / "project")
    project.write("alpha.py", function("alpha"))
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(project.root))
    known = {name: value for name, value in env.items() if name not in LATER_SETTINGS}
    earlier = known | {"PYTHONPATH": str(earlier_release(tmp_path / "earlier"))}

    def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(call_tool(url, tool, arguments))

    with running(earlier, "-P", "-m", "ctx", "up", "--json", cwd=tmp_path) as server:
        metadata = {"topic": "deployment", "tags": ["vpn"], "priority": 8}
        stored = call(
            server.memory_http, "store", information="Deploys need the VPN.", metadata=metadata
        )
        call(
            server.memory_http,
            "store_context",
            thread_id="release-7",
            source="user",
            text="Roll it back.",
        )
        assert call(server.indexer_http, "qdrant_index_root")["ok"]
    assert "services.core.parts" in server.stderr(), "that was not the earlier release"

    [memory] = json.loads(run_ctx(env, "memory", "list", "--json").stdout)["results"]
    assert (memory["id"], memory["information"]) == (stored["id"], "Deploys need the VPN.")
    assert metadata.items() <= memory["metadata"].items()
    assert "Roll it back." in run_ctx(env, "threads", "show", "release-7").stdout
    recalled = run_ctx(env, "recall", "what do deploys need")
    if recalled.returncode != 0:  # the model for memories is another one by now
        assert "ctx memory rebuild" in recalled.stderr
        assert run_ctx(env, "memory", "rebuild").returncode == 0
    for question in (("recall", "what do deploys need"), ("threads", "search", "rolled back")):
        assert run_ctx(env, *question).returncode == 0, question
    assert "alpha.py:1" in run_ctx(env, "search", "alpha").stdout
    with running(env):
        assert "VPN" in run_ctx(env, "recall", "VPN").stdout
    doctor = run_ctx(env, "doctor")
    assert "All is well" in doctor.stdout, doctor.stdout
