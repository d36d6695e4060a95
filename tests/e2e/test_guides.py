"""The commands of the guides work as they stand, in the order of each page."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_getting_started import shell
from tests.support.processes import ROOT, Server, environment, run_ctx, running
from tests.support.repositories import Repository, function

# Pages whose commands are not run here, and why.
ELSEWHERE = {
    "README.md": "in test_getting_started.py, by the same commands",
    "docs/clients.md": "in test_installed_clients.py, where the clients are installed",
    "docs/conformance.md": "in test_conformance.py",
    "docs/getting-started.md": "in test_getting_started.py",
    "docs/kubernetes.md": "they need a cluster",
}
HERE = {"knowledge.md", "memory.md", "operations.md", "repositories.md"}
A_TOKEN = "3f9a12c4"  # stands for the id of one that the reader made
ITS_ID = """$(ctx token list | grep ci | grep -oE '^[0-9a-f]{8}')"""
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with the repositories that the guides speak of."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("shop", "billing"):
        repository = Repository.create(folder / name)
        repository.write("retries.py", function("retry_with_backoff"))
        repository.commit("Retry with backoff")
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with running(environment(home / "data", HOME=str(home)), cwd=home / "shop") as started:
        yield started


def run_page(name: str, folder: Path, server: Server) -> str:
    """Run the commands of a page in one shell, ending at the first that fails."""
    commands = "\n".join(BLOCK.findall((ROOT / "docs" / name).read_text()))
    commands = commands.replace(A_TOKEN, ITS_ID)
    programs = ROOT / ".venv" / "bin"
    path = f"{programs}{os.pathsep}{server.env['PATH']}"
    return shell(commands, folder, {**server.env, "PATH": path})


def test_the_guide_of_memories(server: Server, home: Path) -> None:
    shown = run_page("memory.md", home, server)
    assert shown.count("Deploys need the VPN") >= 2  # recalled, and in the list of its topic
    assert "Nothing fits well" not in shown.partition("Retries are exponential")[0]
    assert len((home / "memories.jsonl").read_text().splitlines()) == 3


def test_the_guide_of_repositories(server: Server, home: Path) -> None:
    shown = run_page("repositories.md", home, server)
    assert "retries.py:1" in shown
    listed = run_ctx(server.env, "workspaces", "list", cwd=home).stdout
    assert all(str(home / name) in listed for name in ("shop", "billing", "shop-fix"))


def test_the_guide_of_knowledge(server: Server, home: Path) -> None:
    shown = run_page("knowledge.md", home / "shop", server)
    assert "Two servers over one engine" in shown  # as the search finds it
    assert (home / "shop" / ".context-teleport" / "knowledge" / "architecture.md").is_file()


def test_the_guide_of_operations(server: Server, home: Path) -> None:
    """It makes tokens: those who come later need one, except their user."""
    shown = run_page("operations.md", home, server)
    assert "app-team" in shown
    listed = run_ctx(server.env, "token", "list", "--json", cwd=home).stdout
    assert '"app-team"' in listed
    assert '"ci"' not in listed


def test_every_page_with_commands_is_run() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    found = {str(page.relative_to(ROOT)) for page in pages if BLOCK.search(page.read_text())}
    assert found == {*ELSEWHERE, *(f"docs/{name}" for name in HERE)}
