"""The command line: help, usage errors, and what is imported when."""

import contextlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ctx.__main__ import main
from ctx.cli import COMMANDS, Command, Group, cli
from ctx.exit_code import Exit, exit_code
from ctx_core.errors import (
    CollectionNotFound,
    CtxError,
    EntryNotFound,
    InvalidInput,
    NotPermitted,
    RemoteFailed,
    SettingsInvalid,
    Unexpected,
)
from tests.support.processes import ROOT, environment, run_ctx, running
from tests.support.repositories import Repository, function

HEAVY = ("fastmcp", "mcp", "sqlalchemy", "qdrant_client", "qdrant_edge", "numpy", "uvicorn")


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of the group and of every command below it."""
    yield path
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        else:
            yield (*path, name)


def command_at(path: tuple[str, ...]) -> click.Command:
    found: click.Command = cli
    for name in path:
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), name)
        assert below is not None
        found = below
    return found


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "data")


def test_version(env: dict[str, str]) -> None:
    assert run_ctx(env, "version").stdout.startswith("ctx ")
    assert json.loads(run_ctx(env, "version", "--json").stdout)["version"]
    assert run_ctx(env, "--version").returncode == 0


@pytest.mark.parametrize("path", list(commands(cli)), ids=" ".join)
def test_help_has_examples_that_are_valid(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*path, "--help"]) == 0
    shown = capsys.readouterr().out
    described = command_at(path)
    assert isinstance(described, (Command, Group))
    assert len(described.examples) > 1
    for example in described.examples:
        assert f"  {example}\n" in shown
        assert_valid(example)


def assert_valid(example: str) -> None:
    """Parse an example as the shell and click do, and run nothing."""
    words = shlex.split(example)
    while "=" in words[0]:  # a variable of the command's environment
        words.pop(0)
    assert words.pop(0) == "ctx"
    path: tuple[str, ...] = ()
    while isinstance(command_at(path), click.Group):
        path = (*path, words.pop(0))
    command_at(path).make_context("ctx", words)


def test_the_list_of_commands_says_what_each_says_itself() -> None:
    for name, summary in COMMANDS.items():
        assert (command_at((name,)).help or "").startswith(summary)


def test_help_imports_nothing_heavy(env: dict[str, str]) -> None:
    """A server's libraries take more than a second to import; `ctx --help` not even pydantic."""
    assert modules_after(env, ["--help"]) & {*HEAVY, "pydantic", "ctx_core.settings"} == set()
    every = [[*path, "--help"] for path in commands(cli)]
    assert modules_after(env, *every, ["version"], ["status"]) & set(HEAVY) == set()


def test_a_start_imports_nothing_that_few_need(env: dict[str, str]) -> None:
    """Alembic runs at an upgrade, a decoder where one is configured, and so on."""
    rare = {"alembic", "beartype", "fastembed", "griffe", "key_value", "llama_cpp"}
    served = {"fastmcp.server.server", "sqlalchemy", "ctx_indexer.tools"}
    code = "import sys; import ctx_indexer.process, ctx_memory.process;print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    imported = set(done.stdout.split())
    assert served <= imported
    assert not rare & imported


def modules_after(env: dict[str, str], *calls: list[str]) -> set[str]:
    """The modules that a process has imported after these calls of `ctx`."""
    code = (
        f"import sys; from ctx.__main__ import main; [main(call) for call in {list(calls)!r}];"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def test_an_unknown_command_is_refused(env: dict[str, str]) -> None:
    refused = run_ctx(env, "upp")
    assert refused.returncode == 2
    assert "'upp'; did you mean 'up'?" in refused.stderr


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--jsn"]) == 2
    assert "--json" in capsys.readouterr().err


def test_a_wrong_setting_is_refused_in_one_line_or_as_json(env: dict[str, str]) -> None:
    wrong = env | {"CTX_LOG_LEVEL": "loud"}
    shown = run_ctx(wrong, "status")
    assert shown.returncode == 2
    assert shown.stderr.startswith("ctx: ")
    assert "CTX_LOG_LEVEL" in shown.stderr
    body = json.loads(run_ctx(wrong, "search", "retry", "--json").stderr)
    assert body["error_code"] == "CONFIGURATION_ERROR"


def test_ctrl_c_while_libraries_are_imported_is_an_interruption(env: dict[str, str]) -> None:
    code = """
import sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "ctx.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Pressed())
from ctx.__main__ import main
sys.exit(main(["version"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.INTERRUPTED, "")


@pytest.mark.parametrize("path", list(commands(cli)), ids=" ".join)
def test_every_command_prints_json_and_documents_its_exit_codes(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    described = command_at(path)
    main([*path, "--help"])
    shown = capsys.readouterr().out
    if isinstance(described, click.Group) and path:
        return
    codes = dict(re.findall(r"^  (\d+)  +(\S.*)$", shown.split("Exit codes:\n")[1], re.MULTILINE))
    expected = {str(int(code)) for code in Exit}
    if isinstance(described, Command):
        assert "--json" in shown
        expected -= set() if described.no else {str(int(Exit.NO))}
        asks = any(parameter.name == "yes" for parameter in described.params)
        assert asks == ("--yes" in shown)
    assert codes.keys() == expected


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("limit", "too small"), 2),
        (SettingsInvalid("CTX_HOTS: no such setting"), 2),
        (EntryNotFound("id", "no entry has it"), 1),
        (NotPermitted("not here"), 4),
        (CollectionNotFound("not indexed"), 3),
        (RemoteFailed({"error": "no", "error_code": "NOT_PERMITTED"}), 4),
        (RemoteFailed({"error": "no", "error_code": "VALIDATION_ERROR"}), 2),
        (Unexpected("a defect"), 3),
    ],
)
def test_an_error_has_its_exit_code(error: CtxError, code: int) -> None:
    assert exit_code(error) == code


def test_colours_and_tables_are_for_terminals(env: dict[str, str]) -> None:
    """The same text, on a terminal and where NO_COLOR or a pipe forbids it."""
    code = (
        "from ctx.terminal import colored, table; print(colored('a.py', 'path'));"
        "print(table(['key', 'text'], [['k', 'two\\nlines']]))"
    )
    plain = "a.py\nk\ttwo lines\n"
    env = {name: value for name, value in env.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-c", code]
    piped = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert piped.stdout == plain
    assert on_terminal(command, env | {"NO_COLOR": "1"}) == plain
    assert on_terminal(command, env | {"TERM": "dumb"}) == plain
    seen = on_terminal(command, env)
    assert "\x1b[36ma.py\x1b[0m" in seen
    assert "key" in seen
    assert "two lines" in seen


def on_terminal(command: list[str], env: dict[str, str], typed: str = "") -> str:
    """What a command prints to a terminal, on which `typed` is typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so when the other side is closed
        while read := os.read(ours, 4096):
            shown += read
    process.wait(60)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(("typed", "kept"), [("n\n", True), ("y\n", False)])
def test_what_destroys_asks_first(
    env: dict[str, str], tmp_path: Path, typed: str, kept: bool
) -> None:
    project = Repository.create(tmp_path / "project")
    env = env | {"CTX_WORKSPACE": str(project.root)}
    assert run_ctx(env, "knowledge", "add", "queue", "--text", "One worker.").returncode == 0
    refused = run_ctx(env, "knowledge", "rm", "queue")
    assert (refused.returncode, "--yes" in refused.stderr) == (4, True)
    asked = on_terminal([sys.executable, "-m", "ctx", "knowledge", "rm", "queue"], env, typed)
    assert "Remove queue?" in asked
    assert ("Nothing was changed" in asked) == kept
    assert (run_ctx(env, "knowledge", "get", "queue").returncode == 0) == kept


@pytest.mark.slow
def test_a_call_of_a_running_server_is_light(env: dict[str, str], tmp_path: Path) -> None:
    """It imports neither the servers' libraries nor pydantic, whichever tool it calls."""
    project = Repository.create(tmp_path / "project")
    project.write("alpha.py", function("alpha"))
    env = env | {"CTX_WORKSPACE": str(project.root)}
    with running(env):
        calls = (["index"], ["search", "alpha"], ["status"], ["knowledge", "search", "alpha"])
        for call in calls:
            assert modules_after(env, call) & {*HEAVY, "pydantic", "httpx"} == set(), call
