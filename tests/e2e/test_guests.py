"""No module of the folder that ctx is started in, or of PYTHONPATH, runs in place of ours.

Such modules are guests: named like our packages, like our dependencies, like modules that these use
where they are there, and like every module of Python's library, also those of other systems. They
end the process that imports them. Two kinds cannot be guests: modules
that Python itself imports before it runs the first line (`encodings`; for `python -m` also
`importlib`, `types` and others), and the package that `python -m` is asked to run.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctx_core.vectors.factory import CHILD_FOLDER
from tests.support.processes import ROOT, environment, running
from tests.support.wheel import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

OURS = "ctx ctx_core ctx_indexer ctx_memory services core indexer memory scripts tests".split()
NEEDED = "click httpx mcp numpy pydantic qdrant_client rich".split()
WELCOME = "brotli ctags org zstandard".split()  # used where they are there
GUEST = "raise SystemExit('not this one: ' + __name__)\n"
LIBRARY = "import sys; print(*sys.stdlib_module_names)"
LOADED = "import sys; print(*{name.partition('.')[0] for name in sys.modules})\n"
WAYS = ("ctx", "ctx-engine", "ctx/__main__.py", "-m ctx")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@dataclass(frozen=True)
class Installation:
    """The Python that ctx is installed for, and how each way starts it."""

    python: str
    programs: Path  # the folder of `ctx` and `ctx-engine`
    package: Path

    def words(self, way: str) -> list[str]:
        """Return the start of a command line: `-m ctx → python -m ctx`."""
        if way.startswith("-m"):
            return [self.python, *way.split()]
        if way.endswith(".py"):
            return [self.python, str(self.package.parent / way)]
        program = str(self.programs / way)
        return [program] if self.programs != self.package / "bin" else [self.python, program]


@dataclass(frozen=True)
class Folder:
    """A folder of guests, and the environment in which ctx is started there."""

    path: Path
    env: dict[str, str]

    def run(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            words,
            cwd=self.path,
            env=self.env,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(params=["checkout", "wheel"])
def ctx(request: pytest.FixtureRequest) -> Installation:
    if request.param == "checkout":
        return Installation(sys.executable, ROOT / "ctx" / "bin", ROOT / "ctx")
    programs: Path = request.getfixturevalue("installed")
    python = str(programs / "python")
    found = run(python, "-I", "-c", "import ctx; print(*ctx.__path__)", cwd=programs)
    return Installation(python, programs, Path(found.strip()))


def guests(ctx: Installation, tmp_path: Path, way: str, **settings: str) -> Folder:
    """Fill a folder with every module that Python lets be a guest."""
    folder = tmp_path / "project"
    folder.mkdir()
    library = run(ctx.python, "-I", "-c", LIBRARY, cwd=folder).split()
    for name in {*library, *OURS, *NEEDED, *WELCOME} - _out_of_reach(ctx, tmp_path, way):
        (folder / f"{name}.py").write_text(GUEST)
    env = environment(tmp_path / "data", HOME=str(tmp_path), PYTHONPATH=".", **settings)
    return Folder(folder, env)


def _out_of_reach(ctx: Installation, tmp_path: Path, way: str) -> set[str]:
    """List the modules that Python imports by itself, and the package it is asked to run."""
    (tmp_path / "loaded.py").write_text(LOADED)
    by_name = way.startswith("-m")
    start = ("-m", "loaded") if by_name else ("loaded.py",)
    loaded = {*run(ctx.python, *start, cwd=tmp_path).split()}
    return loaded | ({way.split()[1]} if by_name else set())


@pytest.mark.parametrize("way", WAYS)
def test_a_command_and_its_workers(ctx: Installation, tmp_path: Path, way: str) -> None:
    """The guests are more files than one process indexes: workers do it."""
    folder = guests(ctx, tmp_path, way, CTX_WORKSPACE=".")
    words = ctx.words(way)
    assert folder.run(*words, "version").startswith("ctx ")
    indexed = json.loads(folder.run(*words, "index", ".", "--json"))
    assert indexed["stats"]["files_added"] > 100


def test_python_runs_the_ctx_of_a_folder_where_it_is_asked_for_it(
    ctx: Installation, tmp_path: Path
) -> None:
    """`python -m` looks into the folder first, by Python's own rule."""
    (tmp_path / "ctx.py").write_text(GUEST.replace("__name__", "'ctx'"))
    words = (ctx.python, "-m", "ctx", "version")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == "not this one: ctx\n"


@pytest.mark.parametrize("server", ["ctx_memory", "ctx_indexer"])
def test_a_server_alone(ctx: Installation, tmp_path: Path, server: str) -> None:
    folder = guests(ctx, tmp_path, f"-m {server}")
    with running(folder.env, "-m", server, cwd=folder.path, python=ctx.python) as started:
        assert started.stop() == 0


@pytest.fixture
def project(ctx: Installation, tmp_path: Path) -> Iterator[Folder]:
    """Guests, and servers that stop in the end whoever started them."""
    folder = guests(ctx, tmp_path, "ctx")
    yield folder
    down = [*ctx.words("ctx"), "down"]
    subprocess.run(down, cwd=folder.path, env=folder.env, capture_output=True, check=False)


def test_servers_in_the_background(ctx: Installation, project: Folder, tmp_path: Path) -> None:
    """They are started, index in workers, and are reached by hook and bridge as installed."""
    words = ctx.words("ctx")
    assert json.loads(project.run(*words, "up", "--detach", "--json"))["ok"]
    indexed = json.loads(project.run(*words, "index", ".", "--json"))
    assert indexed["stats"]["files_added"] > 100
    project.run(*words, "remember", "Deploys need the VPN.")
    plugin = tmp_path / "plugin"
    project.run(*words, "install", "--plugin", str(plugin))
    [hook] = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]["SessionStart"]
    assert "this code is indexed" in project.run("sh", "-c", hook["hooks"][0]["command"])


def test_a_bridge_starts_the_servers(ctx: Installation, project: Folder, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    project.run(*ctx.words("ctx"), "install", "--transport", "stdio", "--plugin", str(plugin))
    bridge = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["ctx"]
    given = json.dumps(INITIALIZE) + "\n"
    answer = json.loads(project.run(bridge["command"], *bridge["args"], given=given))
    assert answer["result"]["serverInfo"]["name"]


def test_a_qdrant_child(ctx: Installation, tmp_path: Path, qdrant_program: Path) -> None:
    folder = guests(ctx, tmp_path, "ctx", QDRANT_BIN=str(qdrant_program))
    storage = tmp_path / "data" / "vectors" / CHILD_FOLDER
    storage.mkdir(parents=True)
    for each in (storage, *storage.relative_to(tmp_path).parents):
        (tmp_path / each).chmod(0o777)  # it runs as another user where the tests run as root
    words = "exec " + shlex.join([*ctx.words("ctx"), "up", "--json"])
    with running(folder.env, "-c", words, cwd=folder.path, python="sh"):
        folder.run(*ctx.words("ctx"), "remember", "Deploys need the VPN.")
        assert "VPN" in folder.run(*ctx.words("ctx"), "recall", "what do deploys need")
