"""The examples of `--help` and the commands in the text of guides work as they stand.

All of them run in one home folder with one server; blocks of commands are in test_guides.py.
"""

import asyncio
import io
import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctx.__main__ import main
from ctx.cli import Command, Group, cli
from ctx.client import connect
from ctx.exit_code import Exit
from tests.ctx.test_cli import command_at, commands
from tests.support.processes import ROOT, environment, run_ctx
from tests.support.repositories import Repository

MEMORY_ID = "1f0c7a52-0000-4000-8000-000000000000"
TOKEN_IDS = ("3f9a12c4", "77ab01de")
SERVES = "serves until it is stopped"
FETCHES = "fetches a model of a gigabyte"
NOT_RUN = {
    "ctx up": SERVES,
    "CTX_WORKSPACE=~/my-project ctx up": SERVES,
    "ctx up --config '{\"messageLimitThreshold\": 20}'": SERVES,
    "ctx up --port 8080": SERVES,
    "ctx up --json": SERVES,
    "ctx up --detach": "starts the server of this test",
    "ctx down": "stops the server of this test",
    "ctx down --json": "stops the server of this test",
    "ctx logs --follow": "goes on until Ctrl-C",
    "ctx model pull qwen2.5-coder-1.5b": FETCHES,
    "ctx model pull qwen2.5-coder-3b --json": FETCHES,
}
GUIDES = ("knowledge", "memory", "operations", "repositories", "troubleshooting")
CALL = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:(?:ctx|git|pip|docker|export|pg_dump|python|cd) \S|scripts/).*"
)
# What the text of guides leaves to the reader, as the examples have it.
STANDS_FOR = {
    r"\bFILE\b": "before-the-upgrade.zip",
    r"\bFOLDER\b": "~/my-project",
    r"\bCLIENT\b": "cursor",
    r"\bNAME\b": "experiments",
    r"\bID\b": MEMORY_ID,
    r"~/clones/shop": "~/old-project",
    r"CTX_ALLOWED_HOSTS=\S+ |CTX_LOG_LEVEL=debug ": "",
}
NAMED = "names a command that needs arguments"
INSTALLS = "installs from the network"
MEASURES = "measures or trains for minutes"
TEXT_NOT_RUN = {
    **dict.fromkeys(("ctx knowledge", "ctx search", "ctx remember", "ctx recall"), NAMED),
    **dict.fromkeys(("ctx restore", "ctx workspaces drop", "git worktree remove"), NAMED),
    "export before-the-upgrade.zip": "is the end of `ctx knowledge export FILE`",
    "pip install 'ctx-engine[postgres]'": INSTALLS,
    "pip install 'ctx-engine[otel]'": INSTALLS,
    "docker compose up --build": "needs Docker, and serves until it is stopped",
    "python -m scripts.bench.speed.capacity": MEASURES,
    "python -m scripts.bench.faults": MEASURES,
    "scripts/model/train.py": MEASURES,
    'export PATH="$HOME/.local/bin:$PATH"': "in test_getting_started.py",
}
# Examples that end with another code than 0 here, each with one that its help has.
NO_CONFLICT = (Exit.NO, "nothing conflicts here")
OWNED = (Exit.NO, "the running server owns the vectors, and the embedded engine has one owner")
TAKEN_OUT = (Exit.NO, "the example before took all of them out")
CODES = {
    "ctx doctor --fix": OWNED,
    "ctx doctor --fix --yes": OWNED,
    f"ctx memory edit {MEMORY_ID}": (Exit.WRONG_USE, "no terminal is here for an editor"),
    "ctx knowledge skill apply-proposal 1f0c7a52 --reject": (Exit.WRONG_USE, "it is accepted"),
    "ctx knowledge sync resolve knowledge/architecture.md": NO_CONFLICT,
    "ctx knowledge sync resolve knowledge/architecture.md --take theirs": NO_CONFLICT,
    "ctx knowledge sync resolve --finish": NO_CONFLICT,
    "ctx restore before-the-upgrade.zip": (Exit.WRONG_USE, "the database is not empty"),
    "ctx uninstall cursor --dry-run": TAKEN_OUT,
    "ctx uninstall codex --json": TAKEN_OUT,
    "ctx settings unset CTX_HOST --json": (Exit.NO, "nobody set it"),
}
FILES = {
    "src/retry.py": """class HttpClient:
    '''Where retries are configured.'''

class Session:
    def send(self, call):
        '''Retry failed calls with backoff.'''
        return load(call)

class SignedSession(Session):
    '''Sessions are signed here.'''
    def send(self, call):
        return super().send(call)

def load(call):
    return call()

def fetch(session):
    return session.send(load)

def parse_header(line):
    return line.split(':')
""",
    "src/main.py": "from retry import Session, load\n\nload(Session().send)\n",
    "tests/test_retry.py": "from src.retry import Session\n\n\ndef test_retries():\n"
    "    assert Session().send(int) == 0\n",
    "config/database.toml": 'url = "postgresql://localhost/app"\n',
    ".github/workflows/release.yaml": "name: release workflow\non: push\n",
    "docs/deployment.md": "Deploys need the VPN.\n",
    "docs/style.md": "Short functions.\n",
    "AGENTS.md": "# Agents\n\n## Testing\n\nRun the tests.\n\n## Release\n\nTag main.\n",
    "CLAUDE.md": "# Notes\n\n## Layout\n\nSources are in src.\n",
}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder with projects, programs and models, in which `ctx up` runs."""
    home = tmp_path / "home"
    for name in ("my-project", "old-project"):
        repository = Repository.create(home / name)
        for path, content in FILES.items():
            repository.write(path, content)
        repository.commit("Retry: the queue is bounded because memory is")
    repository.git("init", "-q", "--bare", str(home / "remote.git"))
    Repository(home / "my-project").git("remote", "add", "origin", str(home / "remote.git"))
    for path in (
        "data/decoders/qwen2.5-coder-1.5b",
        "data/decoders/qwen2.5-coder-3b",
        "models/mine",
    ):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / f"{path}.gguf").write_bytes(b"GGUF")
    (home / "bin").mkdir()
    (home / "backups").mkdir()
    (home / "bin" / "claude").write_text("#!/bin/sh\nexec cat\n")
    (home / "bin" / "claude").chmod(0o755)
    (home / ".cursor").mkdir()
    enter(home, monkeypatch)
    project = home / "my-project"
    started = run_ctx(os.environ, "up", "--detach", cwd=project)
    assert started.returncode == 0, started.stderr
    yield home
    run_ctx(os.environ, "down", cwd=project)


def enter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in the project, as its user."""
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = environment(home / "data", HOME=str(home), PATH=path, EDITOR="true", CTX_WATCH="1")
    for name in os.environ.keys() - env.keys():
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home / "my-project")


def examples_of(path: tuple[str, ...]) -> Sequence[str]:
    described = command_at(path)
    assert isinstance(described, (Command, Group))
    return described.examples


def examples() -> list[str]:
    """Every example once: those of groups, then what destroys, a part before the whole."""
    paths = sorted(commands(cli), key=lambda path: isinstance(command_at(path), Group))
    every = dict.fromkeys(each for path in paths for each in examples_of(path))
    destroying = [each for each in every if " --yes" in each or " drop " in each]
    return [each for each in every if each not in destroying] + sorted(
        destroying, key=lambda each: "collections drop" in each
    )


def every_call() -> list[str]:
    """The calls in text that are no examples, then the examples: these destroy at the end."""
    every = examples()
    return [each for each in calls_in_text() if each not in every] + every


def calls_in_text() -> list[str]:
    """Every command that stands in the text of a guide, with what the reader fills in."""
    found = []
    for name in GUIDES:
        page = (ROOT / "docs" / f"{name}.md").read_text()
        text = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
        spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))
        found += [span for span in spans if CALL.fullmatch(span)]
    for pattern, value in STANDS_FOR.items():
        found = [re.sub(pattern, value, each) for each in found]
    return list(dict.fromkeys(found))


def expected(example: str) -> Exit:
    """The code that an example ends with: nobody is here to confirm."""
    if example in CODES:
        return CODES[example][0]
    asks = re.search(r" (rm|drop|prune)\b", example) and "--yes" not in example
    return Exit.REFUSED if asks else Exit.DONE


def run(example: str, names: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run an example in this process, as a shell would start it."""
    for name, value in names.items():
        example = example.replace(name, value)
    given = Path("memories.jsonl").read_text() if "import -" in example else "Rolled back.\n"
    words = [
        re.sub(r"^(\w+=)?~", rf"\1{os.environ['HOME']}", each) for each in shlex.split(example)
    ]
    with monkeypatch.context() as patch:
        while "=" in words[0]:
            patch.setenv(*words.pop(0).split("=", 1))
        if words[:3] == ["python", "-m", "ctx"]:
            words = words[2:]
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        return main(words[1:])


def test_every_example_works(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["index", str(home / "old-project")])
    names = {MEMORY_ID: made(capsys, "remember", "one"), **asyncio.run(prepare(home))}
    failures = {}
    for example in [each for each in every_call() if each not in {*NOT_RUN, *TEXT_NOT_RUN}]:
        if example.startswith("ctx token revoke"):
            command = ("token", "create", "--scope", "read", "--name", "one")
            names |= {name: made(capsys, *command) for name in TOKEN_IDS}
        capsys.readouterr()
        code = run(example, names, monkeypatch)
        if code != expected(example):
            failures[example] = (code, capsys.readouterr())
    assert failures == {}
    assert run("ctx down", names, monkeypatch) == Exit.DONE
    assert run("ctx down --json", names, monkeypatch) == Exit.NO


def made(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """The id of what a command makes."""
    capsys.readouterr()
    assert main([*command, "--json"]) == Exit.DONE
    return str(json.loads(capsys.readouterr().out)["id"])


async def prepare(home: Path) -> dict[str, str]:
    """Make what agents make; return what stands for the names in the examples."""
    skill = {"name": "deploy", "description": "How to deploy.", "instructions": "Run the script."}
    better = {"skill_name": "deploy", "proposed_content": "Run the script twice."}
    entry = {
        "thread_id": "release-7",
        "source": "agent",
        "text": "Rolled back: the queue was full.",
    }
    async with connect("memory") as client:
        await client.call("store_context", entry)
        await client.call("context_add_skill", skill)
        proposed: dict[str, Any] = await client.call("context_propose_skill_improvement", better)
    return {
        "1f0c7a52": proposed["proposal_id"],
        "http://indexer:8003": f"http://127.0.0.1:{os.environ['CTX_INDEXER_HTTP_PORT']}",
        "/backups": str(home / "backups"),
    }


def test_the_table_of_calls_in_text_names_what_is_there() -> None:
    assert set(TEXT_NOT_RUN) <= set(calls_in_text())


def test_the_tables_name_examples_and_codes_of_their_help() -> None:
    every = {each: command_at(path) for path in commands(cli) for each in examples_of(path)}
    assert {*NOT_RUN, *CODES} <= every.keys()
    for example, (code, _) in CODES.items():
        assert code != Exit.NO or getattr(every[example], "no", None), example
