"""EMBEDDING_MODEL changes under data that is there: what people are told, and the commands."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx_core.settings.models import CODE_MODEL, PROSE_MODEL
from tests.support import models
from tests.support.processes import ROOT, environment, run_ctx, running
from tests.support.qdrant import memory
from tests.support.repositories import Repository, function

FILES = 20
MANY_FILES = 150  # so that a rebuild lasts long enough to be killed
KILLS = 2


@pytest.fixture(scope="module")
def area() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ctx-model-change-", dir=memory()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def workspace(area: Path) -> Path:
    repository = Repository.create(area / "project")
    write_files(repository, range(FILES))
    return repository.root


def write_files(repository: Repository, numbers: range) -> None:
    for number in numbers:
        body = "\n    ".join(f"total_{line} = value * {line}" for line in range(20))
        repository.write(f"part_{number}.py", function(f"compute_{number}", body))


@pytest.fixture(scope="module")
def indexed(area: Path, workspace: Path) -> dict[str, str]:
    """What a user had before the change: indexed, and with the collections of a first start."""
    env = environment(area / "data", CTX_WORKSPACE=str(workspace))
    with running(env):
        assert run_ctx(env, "index", cwd=workspace).returncode == 0
    shutil.copytree(area / "data", area / "before")
    return env


@pytest.fixture
def old(indexed: dict[str, str], area: Path) -> dict[str, str]:
    """The settings from before the change, and the data as it was then."""
    shutil.rmtree(area / "data")
    shutil.copytree(area / "before", area / "data")
    return indexed


@pytest.fixture(scope="module")
def second_model(area: Path) -> str:
    return models.second_model(area)


@pytest.fixture
def new(old: dict[str, str], second_model: str) -> dict[str, str]:
    """Another model for both; tests have their own default for memories, which is set too."""
    return old | {"EMBEDDING_MODEL": second_model, "MEMORY_EMBEDDING_MODEL": second_model}


def found(env: dict[str, str], workspace: Path) -> bool:
    answer = run_ctx(env, "search", "compute_7", "--json", cwd=workspace)
    assert answer.returncode == 0, answer.stderr
    return any(hit["path"] == "part_7.py" for hit in json.loads(answer.stdout)["results"])


def test_the_change_is_told_and_one_command_each_mends_it(
    new: dict[str, str], workspace: Path
) -> None:
    mismatch = f"(256 dims), the configured one is {models.NAME}"
    code, memories = "ctx index --recreate --collection codebase", "ctx memory rebuild"
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
        files = len(list(workspace.glob("part_*")))
        assert json.loads(rebuilt.stdout)["stats"]["files_added"] == files
        assert found(new, workspace)
        rebuilt = run_ctx(new, "memory", "rebuild", "--json")
        assert rebuilt.returncode == 0, rebuilt.stderr
        assert json.loads(rebuilt.stdout)["model"] == models.NAME
        assert mismatch not in run_ctx(new, "status").stdout
    assert "All is well" in run_ctx(new, "doctor").stdout


def test_the_model_of_code_changes_without_touching_memories(
    old: dict[str, str], workspace: Path
) -> None:
    new = old | {"EMBEDDING_MODEL": PROSE_MODEL}
    mismatch = f"collection codebase was built with model {CODE_MODEL} (256 dims)"
    doctor = run_ctx(new, "doctor").stdout
    assert doctor.count("was built with model") == doctor.count(mismatch) == 1
    assert run_ctx(new, "index", "--recreate", cwd=workspace).returncode == 0
    assert found(new, workspace)
    assert "All is well" in run_ctx(new, "doctor").stdout


def test_the_model_of_memories_changes_without_touching_code(
    old: dict[str, str], second_model: str, workspace: Path
) -> None:
    new = old | {"MEMORY_EMBEDDING_MODEL": second_model}
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
    write_files(Repository(workspace), range(FILES, MANY_FILES))
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
