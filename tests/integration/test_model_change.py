"""EMBEDDING_MODEL changes under data that is there: what people are told, and the commands."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.core.settings.models import PROSE_MODEL
from tests.support import models
from tests.support.processes import ROOT, environment, run_ctx, running
from tests.support.repositories import Repository, function

FILES = 150
KILLS = 2


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    repository = Repository.create(tmp_path / "project")
    for number in range(FILES):
        body = "\n    ".join(f"total_{line} = value * {line}" for line in range(20))
        repository.write(f"part_{number}.py", function(f"compute_{number}", body))
    return repository.root


@pytest.fixture
def old(tmp_path: Path, workspace: Path) -> dict[str, str]:
    """What a user had before the change, indexed and stored."""
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(workspace))
    assert run_ctx(env, "index", cwd=workspace).returncode == 0
    return env


@pytest.fixture
def new(old: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Another model for both; tests have their own default for memories, which is set too."""
    name = models.second_model(tmp_path)
    return old | {"EMBEDDING_MODEL": name, "MEMORY_EMBEDDING_MODEL": name}


def found(env: dict[str, str], workspace: Path) -> bool:
    answer = run_ctx(env, "search", "compute_7", "--json", cwd=workspace)
    assert answer.returncode == 0, answer.stderr
    return any(hit["path"] == "part_7.py" for hit in json.loads(answer.stdout)["results"])


def test_the_change_is_told_and_one_command_each_mends_it(
    old: dict[str, str], new: dict[str, str], workspace: Path
) -> None:
    mismatch = f"(256 dims), the configured one is {models.NAME}"
    code, memories = "ctx index --recreate --collection codebase", "ctx memory rebuild"
    with running(old):  # makes the collections of memories and threads
        pass
    doctor = run_ctx(new, "doctor").stdout
    assert doctor.count(mismatch) == 4
    assert doctor.count(code) == 1
    assert doctor.count(memories) == 3
    assert "All is well" not in doctor
    refused = run_ctx(new, "search", "compute_7", cwd=workspace)
    assert refused.returncode == 3
    assert code in refused.stderr

    with running(new):
        status = run_ctx(new, "status").stdout
        assert status.count(mismatch) == 4
        assert run_ctx(new, "doctor").stdout.count(mismatch) == 4
        refused = run_ctx(new, "search", "compute_7", cwd=workspace)
        assert code in refused.stderr
        rebuilt = run_ctx(new, "index", "--recreate", "--json", cwd=workspace)
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert json.loads(rebuilt.stdout)["stats"]["files_added"] == FILES
        assert found(new, workspace)
        rebuilt = run_ctx(new, "memory", "rebuild", "--json")
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert json.loads(rebuilt.stdout)["model"] == models.NAME
        assert mismatch not in run_ctx(new, "status").stdout
    assert "All is well" in run_ctx(new, "doctor").stdout


def test_the_model_of_code_changes_without_touching_memories(
    tmp_path: Path, workspace: Path
) -> None:
    """As for who indexed when one model served both."""
    new = environment(tmp_path / "data", CTX_WORKSPACE=str(workspace))
    old = new | {"EMBEDDING_MODEL": PROSE_MODEL}
    assert run_ctx(old, "index", cwd=workspace).returncode == 0
    with running(old):
        pass
    mismatch = f"collection codebase was built with model {PROSE_MODEL} (256 dims)"
    doctor = run_ctx(new, "doctor").stdout
    assert doctor.count("was built with model") == doctor.count(mismatch) == 1
    assert run_ctx(new, "index", "--recreate", cwd=workspace).returncode == 0
    assert found(new, workspace)
    assert "All is well" in run_ctx(new, "doctor").stdout


def test_the_model_of_memories_changes_without_touching_code(
    old: dict[str, str], tmp_path: Path, workspace: Path
) -> None:
    new = old | {"MEMORY_EMBEDDING_MODEL": models.second_model(tmp_path)}
    with running(old):
        pass
    advice = f"set MEMORY_EMBEDDING_MODEL back to {PROSE_MODEL}"
    assert run_ctx(new, "doctor").stdout.count(advice) == 3
    assert json.loads(run_ctx(new, "memory", "rebuild", "--json").stdout)["model"] == models.NAME
    assert found(new, workspace)
    assert "All is well" in run_ctx(new, "doctor").stdout


def killed_while_rebuilding(env: dict[str, str], workspace: Path, after: float) -> bool:
    """Whether it was still at it, `after` seconds after the new collection was begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ctx", "index", "--recreate"],
        cwd=workspace,
        env={**env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    collections = Path(env["CTX_DATA_DIR"]) / "vectors" / "collections"
    while not list(collections.glob("codebase@*/collection.json")):
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(after)
    still = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return still


def test_a_killed_rebuild_leaves_the_old_collection_or_the_new_one(
    old: dict[str, str], new: dict[str, str], workspace: Path
) -> None:
    assert killed_while_rebuilding(new, workspace, 0.0), "it ended first: nothing was tested"
    assert found(old, workspace)
    for attempt in range(1, KILLS):
        was_at_it = killed_while_rebuilding(new, workspace, 0.3 * attempt)
        assert found(old if was_at_it and mismatched(new, workspace) else new, workspace)
        if not was_at_it:
            break
    rebuilt = run_ctx(new, "index", "--recreate", cwd=workspace)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert found(new, workspace)
    [left] = (Path(new["CTX_DATA_DIR"]) / "vectors" / "collections").glob("codebase*")
    assert left.name.startswith("codebase@")


def mismatched(env: dict[str, str], workspace: Path) -> bool:
    refused = run_ctx(env, "search", "compute_7", cwd=workspace)
    return "was built with model" in refused.stderr
