"""The clients that are installed on this machine take the entries that `ctx install` writes.

None is installed for this: what is not in PATH is skipped. Node's clients are in test_clients.py.
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.processes import ROOT, Server, environment, run_ctx, running

LIST_SECONDS = 90
TOKEN, VARIABLE = "a-token-of-this-test-0123456789abcdef", "MCP_CTX_TOKEN"
# How each program says that a server answers; Codex lists without asking: its app server asks.
CONNECTED = {
    "claude-code": ("claude", "Connected"),
    "gemini": ("gemini", "Connected"),
    "opencode": ("opencode", "connected"),
    "codex": ("codex", ""),
}
NAMES = {"http": ["ctx"], "sse": ["ctx-memory", "ctx-indexer"], "stdio": ["ctx"]}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Servers that refuse who has no token."""
    data = tmp_path_factory.mktemp("guarded") / "data"
    with running(environment(data, CTX_AUTH_TOKENS=TOKEN)) as started:
        yield started


@pytest.mark.parametrize("name", CONNECTED)
def test_the_client_connects(server: Server, tmp_path: Path, name: str) -> None:
    env = environment_of(name, server, tmp_path)
    for transport in NAMES:
        assert_connects(name, env, "--transport", transport)
    home = Path(env["HOME"])
    assert run_ctx(env, "uninstall", name, cwd=home).returncode == 0
    left = [each for each in home.rglob("*.json") if each.stat().st_size < 100_000]
    assert not any('"ctx"' in each.read_text(errors="replace") for each in left), left


@pytest.mark.parametrize("name", CONNECTED)
def test_the_client_connects_with_a_token(guarded: Server, tmp_path: Path, name: str) -> None:
    env = environment_of(name, guarded, tmp_path)
    del env["CTX_AUTH_TOKENS"]  # a client's shell has its own token, and the owner's file
    for transport in NAMES:
        assert_connects(name, env, "--transport", transport, "--token-env", VARIABLE)
    wrong = {**env, VARIABLE: "another"}
    run_ctx(wrong, "install", name, "--token-env", VARIABLE, cwd=Path(env["HOME"]))
    assert connected(name, wrong) == set()


def environment_of(name: str, server: Server, folder: Path) -> dict[str, str]:
    """A home of the client's own, where mcp-remote comes from the cache of npm."""
    if shutil.which(CONNECTED[name][0]) is None:
        pytest.skip(f"{CONNECTED[name][0]} is not installed here")
    home = folder / "home"
    (home / "project").mkdir(parents=True)
    cache = Path.home() / ".npm"
    # A file: Gemini CLI keeps most variables from its servers.
    (home / ".npmrc").write_text(f"cache={cache}\nprefer-offline=true\nupdate-notifier=false\n")
    env = {**server.env, "HOME": str(home), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return env | {VARIABLE: TOKEN, "PYTHONPATH": str(ROOT)}


def assert_connects(name: str, env: Mapping[str, str], *options: str) -> None:
    done = run_ctx(env, "install", name, *options, cwd=Path(env["HOME"]))
    assert done.returncode == 0, done.stderr
    wait_longer(Path(env["HOME"]) / ".gemini" / "settings.json")
    wanted = set(NAMES[options[1]])
    assert connected(name, env) == wanted, options


def wait_longer(settings: Path) -> None:
    """Let Gemini CLI wait longer than five seconds, where it is the client: npx takes more."""
    with contextlib.suppress(FileNotFoundError):
        body = json.loads(settings.read_text())
        for entry in body["mcpServers"].values():
            entry["timeout"] = 30_000
        settings.write_text(json.dumps(body))


def connected(name: str, env: Mapping[str, str]) -> set[str]:
    """Our servers that answer the client."""
    if name == "codex":
        return connected_to_codex(env)
    program, word = CONNECTED[name]
    listed = subprocess.run(
        [program, "mcp", "list"],
        cwd=Path(env["HOME"]) / "project",
        env=dict(env),
        capture_output=True,
        text=True,
        timeout=LIST_SECONDS,
        check=False,
    )
    lines = [line for line in (listed.stdout + listed.stderr).splitlines() if word in line]
    words = {each.strip(":") for line in lines for each in line.split()}
    return words & {"ctx", "ctx-memory", "ctx-indexer"}


def connected_to_codex(env: Mapping[str, str]) -> set[str]:
    """The servers of which Codex lists tools."""
    process = subprocess.Popen(
        [CONNECTED["codex"][0], "app-server"],
        cwd=Path(env["HOME"]) / "project",
        env={**env, "RUST_LOG": "off"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    me = {"clientInfo": {"name": "test", "version": "1"}}
    try:
        for message in (
            {"id": 1, "method": "initialize", "params": me},
            {"method": "initialized"},
            {"id": 2, "method": "mcpServerStatus/list", "params": {}},
        ):
            process.stdin.write(json.dumps(message) + os.linesep)
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        listed = next(each for each in answers if each.get("id") == 2)
    finally:
        process.terminate()
        process.communicate()
    return {each["name"] for each in listed["result"]["data"] if each["tools"]}
