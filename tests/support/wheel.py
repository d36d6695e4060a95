"""The wheel of this checkout, and an environment that it is installed in."""

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.processes import ROOT

INSTALL_SECONDS = 600
__all__ = ["installed", "run", "wheel"]


def run(*command: str, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=None if env is None else dict(env),
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what git tracks here; skipped where nothing can be installed from."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        if name and not name.startswith("tests/") and (ROOT / name).is_file():
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(ROOT / name, target)
    probe = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder / "x")]
    reached = subprocess.run([*probe, "hatchling"], capture_output=True, text=True, check=False)
    if reached.returncode != 0:
        pytest.skip(f"no packages can be installed here: {reached.stderr.strip()[-200:]}")
    build = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder))
    run(*build, str(source), cwd=folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    constraints = str(ROOT / "scripts" / "constraints.txt")
    install = (str(programs / "python"), "-m", "pip", "install", "-q", "-c", constraints)
    run(*install, str(wheel), cwd=folder)
    return programs
