"""Hooks and workflows only call scripts, so that what runs there runs anywhere."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.architecture.test_imports import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"


def read(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text())
    return loaded


def commands() -> Iterator[str]:
    for job in read(WORKFLOW)["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
    for repo in read(HOOKS)["repos"]:
        assert repo["repo"] == "local"
        yield from (hook["entry"] for hook in repo["hooks"])


def test_workflow_and_hooks_call_scripts_that_exist() -> None:
    found = list(commands())
    assert len(found) == 4
    for command in found:
        program = ROOT / command.split()[0]
        assert program.resolve().parent == ROOT / "scripts"
        assert program.stat().st_mode & 0o111, command


def test_the_workflow_follows_its_schema() -> None:
    checker = Path(sys.executable).parent / "check-jsonschema"
    command = [str(checker), "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
