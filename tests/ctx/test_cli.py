"""The command line, run as people run it."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT, environment, run_ctx


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "data")


def test_version(env: dict[str, str]) -> None:
    assert run_ctx(env, "version").stdout.startswith("ctx ")
    assert json.loads(run_ctx(env, "version", "--json").stdout)["version"]
    assert run_ctx(env, "--version").returncode == 0


@pytest.mark.parametrize("command", [(), ("up",), ("status",), ("doctor",), ("version",)])
def test_help_has_examples(env: dict[str, str], command: tuple[str, ...]) -> None:
    shown = run_ctx(env, *command, "--help")
    assert shown.returncode == 0
    assert "examples:" in shown.stdout


def test_an_unknown_command_is_refused(env: dict[str, str]) -> None:
    refused = run_ctx(env, "upp")
    assert refused.returncode == 2
    assert "upp" in refused.stderr


def test_small_commands_do_not_import_the_servers(env: dict[str, str]) -> None:
    code = (
        "import sys; from ctx.__main__ import main; main(['version']); main(['status']);"
        "print([m for m in ('fastmcp', 'mcp', 'sqlalchemy', 'qdrant_client') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_status_when_nothing_runs(env: dict[str, str]) -> None:
    shown = run_ctx(env, "status")
    assert shown.returncode == 1
    assert "ctx up" in shown.stdout
    assert json.loads(run_ctx(env, "status", "--json").stdout)["ok"] is False


def test_doctor_finds_all_well(env: dict[str, str]) -> None:
    shown = run_ctx(env, "doctor")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "All is well" in shown.stdout


def test_doctor_names_what_is_wrong_and_how_to_mend_it(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cases = {
        "settings": {"CTX_LOG_LEVEL": "loud"},
        "data folder": {"CTX_DATA_DIR": str(tmp_path / "file" / "below")},
        "embedding model": {"EMBEDDING_MODEL": "no-such-model"},
        "qdrant": {"QDRANT_URL": "http://127.0.0.1:9"},
    }
    for check, wrong in cases.items():
        shown = run_ctx(env | wrong, "doctor", "--json")
        assert shown.returncode == 1, check
        findings = {f["check"]: f for f in json.loads(shown.stdout)["findings"]}
        assert findings[check]["state"] == "fail"
        assert findings[check]["mend"], check


def test_doctor_sees_a_taken_port(env: dict[str, str]) -> None:
    port = env["CTX_INDEXER_SSE_PORT"]
    with socket.create_server(("127.0.0.1", int(port))):
        shown = run_ctx(env, "doctor", "--json")
    findings = {f["check"]: f for f in json.loads(shown.stdout)["findings"]}
    assert findings["ports"]["state"] == "fail"
    assert port in findings["ports"]["detail"]


def test_a_reader_that_leaves_early_is_no_error(env: dict[str, str]) -> None:
    command = f"{sys.executable} -m ctx doctor --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"
    assert "BrokenPipeError" not in done.stderr
