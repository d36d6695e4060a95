"""`ctx install --instructions`: a block between markers, in and out."""

from pathlib import Path

import pytest

from ctx.install.instructions import BEGIN, BLOCK, END
from tests.support.processes import environment, run_ctx

OWN = "# My project\n\nUse tabs.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "project"
    folder.mkdir(parents=True)
    (folder / "AGENTS.md").write_text(OWN)
    return folder


def ctx(project: Path, *arguments: str) -> str:
    env = environment(project.parent / "data", HOME=str(project.parent))
    done = run_ctx(env, *arguments, cwd=project)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_block_comes_once_and_goes_without_a_trace(project: Path) -> None:
    agents, claude = project / "AGENTS.md", project / "CLAUDE.md"
    assert f"+{BEGIN}" in ctx(project, "install", "claude-code", "--instructions", "--dry-run")
    assert agents.read_text() == OWN
    for _ in range(2):
        ctx(project, "install", "claude-code", "--instructions")
        assert agents.read_text() == f"{OWN}\n{BLOCK}"
        assert claude.read_text() == BLOCK
    ctx(project, "uninstall", "claude-code", "--instructions")
    assert agents.read_text() == OWN
    assert not claude.exists()


def test_what_was_written_around_it_stays(project: Path) -> None:
    agents = project / "AGENTS.md"
    ctx(project, "install", "cursor", "--instructions")
    assert not (project / "CLAUDE.md").exists()
    agents.write_text(agents.read_text() + "\nLater words.\n")
    ctx(project, "uninstall", "cursor", "--instructions")
    left = agents.read_text()
    assert BEGIN not in left
    assert END not in left
    assert left.startswith(OWN)
    assert "Later words." in left
