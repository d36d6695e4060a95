"""`ctx doctor`."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import ROOT, environment, run_ctx


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "data")


def findings(env: dict[str, str], expected_code: int) -> dict[str, dict[str, Any]]:
    shown = run_ctx(env, "doctor", "--json")
    assert shown.returncode == expected_code, shown.stdout + shown.stderr
    return {finding["check"]: finding for finding in json.loads(shown.stdout)["findings"]}


def test_doctor_finds_all_well(env: dict[str, str]) -> None:
    shown = run_ctx(env, "doctor")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "All is well" in shown.stdout


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        ("settings", {"CTX_LOG_LEVEL": "loud"}),
        ("data folder", {"CTX_DATA_DIR": "{tmp}/file/below"}),
        ("embedding model", {"EMBEDDING_MODEL": "no-such-model"}),
        ("qdrant", {"QDRANT_URL": "http://127.0.0.1:9"}),
    ],
)
def test_doctor_names_what_is_wrong_and_how_to_fix_it(
    env: dict[str, str], tmp_path: Path, check: str, wrong: dict[str, str]
) -> None:
    (tmp_path / "file").write_text("")
    given = {name: value.format(tmp=tmp_path) for name, value in wrong.items()}
    finding = findings(env | given, 1)[check]
    assert finding["state"] == "fail"
    assert finding["fix"]


def test_doctor_names_a_setting_that_is_none_any_more(env: dict[str, str]) -> None:
    shown = run_ctx(env | {"CTX_MIN_FREE_MB": "1"}, "doctor", "--json")
    checks = {each["check"]: each for each in json.loads(shown.stdout)["findings"]}
    assert checks["settings"]["state"] == "warn"
    assert "CTX_MIN_FREE_MB is no longer a setting" in checks["settings"]["detail"]


def test_doctor_names_a_client_that_starts_a_server_by_its_earlier_name(
    env: dict[str, str], tmp_path: Path
) -> None:
    files = {
        ".codex/config.toml": """[mcp_servers.ctx-memory]
command = "/venv/bin/python"
args = [ "-P", "-m", 'services.memory', "--transports", "stdio" ]
""",
        ".cursor/mcp.json": """{"mcpServers": {"ctx-indexer":
 {"command": "sh", "args": ["-c", "python -m services.indexer --transports stdio"]},
 "code": {"args": ["-m",\n"services.memory"]}}}""",
        ".gemini/settings.json": '{"mcpServers": {"mine": {"args": ["-m", "my.services.memory"]}}}',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    shown = run_ctx(env | {"HOME": str(tmp_path)}, "doctor", "--json")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    found = [each for each in json.loads(shown.stdout)["findings"] if each["check"] == "client"]
    assert [each["state"] for each in found] == ["warn", "warn"]
    cursor, codex = found
    assert "`ctx_memory`" in codex["fix"]
    assert "services.memory" in codex["detail"]
    assert str(tmp_path / ".codex" / "config.toml") in codex["detail"]
    assert "`ctx_indexer`, `ctx_memory`" in cursor["fix"]


def test_doctor_answers_in_a_folder_that_is_gone(env: dict[str, str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2" -m ctx doctor'
    command = ["sh", "-c", script, "sh", str(gone), sys.executable]
    inside = {**env, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(command, env=inside, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "All is well" in shown.stdout


def test_doctor_sees_a_taken_port(env: dict[str, str]) -> None:
    port = env["CTX_INDEXER_SSE_PORT"]
    with socket.create_server(("127.0.0.1", int(port))):
        finding = findings(env, 1)["ports"]
    assert finding["state"] == "fail"
    assert port in finding["detail"]
