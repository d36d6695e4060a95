"""`ctx settings` and `ctx completion`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctx.__main__ import main
from tests.support.processes import ROOT, environment


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment(tmp_path, CTX_AUTH_TOKENS="secret").items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_a_setting_is_set_shown_with_its_origin_and_unset(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = data_dir / "ctx.toml"
    file.write_text("# ours\nCOLLECTION_NAME = 'code'\n")
    assert main(["settings", "set", "CTX_LOG_LEVEL", "debug"]) == 0
    assert main(["settings", "set", "CTX_LOG_LEVEL", "error"]) == 0
    assert file.read_text() == "CTX_LOG_LEVEL = \"error\"\n# ours\nCOLLECTION_NAME = 'code'\n"
    assert file.stat().st_mode & 0o777 == 0o600
    capsys.readouterr()
    assert main(["settings", "show", "--json"]) == 0
    out = capsys.readouterr().out
    shown = {each["name"]: (each["value"], each["origin"]) for each in json.loads(out)["settings"]}
    assert shown["CTX_LOG_LEVEL"] == ("error", "ctx.toml")
    assert shown["COLLECTION_NAME"] == ("code", "ctx.toml")
    assert shown["CTX_DATA_DIR"] == (str(data_dir), "environment")
    assert shown["CTX_READ_ONLY"] == ("false", "default")
    assert shown["CTX_AUTH_TOKENS"] == ("***", "environment")
    assert "secret" not in out
    assert main(["settings", "unset", "CTX_LOG_LEVEL"]) == 0
    assert main(["settings", "unset", "CTX_LOG_LEVEL"]) == 1
    assert file.read_text() == "# ours\nCOLLECTION_NAME = 'code'\n"
    assert main(["settings", "show", "NO_SUCH"]) == 1


def test_what_a_file_of_secrets_sets_has_its_origin_and_is_hidden(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = data_dir / "secrets"
    secrets.mkdir()
    for name, value in {
        "DATABASE_URL": "sqlite:////hidden/away",
        "QDRANT_API_KEY": "hidden-key",
        "CTX_AUTH_TOKENS": "hidden-token",
        "COLLECTION_NAME": "hidden-too",
    }.items():
        (secrets / name).write_text(value)
    (data_dir / "ctx.toml").write_text(f"CTX_SECRETS_DIR = '{secrets}'\nCOLLECTION_NAME = 'code'\n")
    assert main(["settings", "show", "--json"]) == 0
    out = capsys.readouterr().out
    shown = {each["name"]: (each["value"], each["origin"]) for each in json.loads(out)["settings"]}
    assert shown["DATABASE_URL"] == shown["QDRANT_API_KEY"] == ("***", "secrets file")
    assert shown["CTX_AUTH_TOKENS"] == ("***", "environment")
    assert shown["COLLECTION_NAME"] == ("code", "ctx.toml")
    assert "hidden" not in out


@pytest.mark.parametrize(
    ("name", "value"), [("CTX_LOG_LEVEL", "loud"), ("CTX_HOTS", "x"), ("CTX_DATA_DIR", "/x")]
)
def test_a_wrong_setting_is_not_written(data_dir: Path, name: str, value: str) -> None:
    assert main(["settings", "set", name, value]) == 2
    assert not (data_dir / "ctx.toml").exists()


def test_a_setting_of_before_is_named_and_can_be_taken_out(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = data_dir / "ctx.toml"
    file.write_text("MICRO_CHUNK_TOKENS = 8\n")
    assert main(["settings", "show", "CTX_HOST"]) == 0
    assert "MICRO_CHUNK_TOKENS is no longer a setting" in capsys.readouterr().out
    assert main(["settings", "set", "MICRO_CHUNK_TOKENS", "16"]) == 2
    assert "a window has 16 words" in capsys.readouterr().err
    assert main(["settings", "unset", "MICRO_CHUNK_TOKENS"]) == 0
    assert file.read_text() == ""
    capsys.readouterr()
    assert main(["settings", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ignored"] == []


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_a_list_of_several_lines_is_replaced_and_all_else_stays(
    data_dir: Path, start: bytes
) -> None:
    file = data_dir / "ctx.toml"
    lines = start + b"# ours\r\n%b\r\nCTX_HOST = '::1' # c"
    file.write_bytes(lines % b"CTX_ALLOWED_HOSTS = [\r\n  'a', # ]\r\n  'b',\r\n]")
    assert main(["settings", "set", "CTX_ALLOWED_HOSTS", "a,c"]) == 0
    assert file.read_bytes() == lines % b'CTX_ALLOWED_HOSTS = "a,c"'
    assert main(["settings", "set", "CTX_LOG_LEVEL", "debug"]) == 0
    assert main(["settings", "unset", "CTX_LOG_LEVEL"]) == 0
    assert file.read_bytes() == lines % b'CTX_ALLOWED_HOSTS = "a,c"'
    assert main(["settings", "show"]) == 0


def test_a_link_to_the_file_stays_and_the_file_is_changed(data_dir: Path, tmp_path: Path) -> None:
    """As where settings are kept under git, and linked."""
    kept = tmp_path / "kept.toml"
    kept.write_text("# mine\n")
    data_dir.mkdir(exist_ok=True)
    (data_dir / "ctx.toml").symlink_to(kept)
    assert main(["settings", "set", "CTX_LOG_LEVEL", "debug"]) == 0
    assert (data_dir / "ctx.toml").is_symlink()
    assert kept.read_text() == 'CTX_LOG_LEVEL = "debug"\n# mine\n'


@pytest.mark.parametrize(
    "content", [b"host: x", b"CTX_HOST = '\xff'", b"[CTX_LOG_LEVEL]\na = 1", b"A = 1\nA = 2"]
)
def test_a_file_that_cannot_be_changed_is_left_and_named(
    data_dir: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    file = data_dir / "ctx.toml"
    file.write_bytes(content)
    assert main(["settings", "set", "CTX_LOG_LEVEL", "debug"]) == 2
    assert str(file) in capsys.readouterr().err
    assert file.read_bytes() == content


def test_commands_are_completed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "_CTX_COMPLETE" in capsys.readouterr().out
    completing = {"_CTX_COMPLETE": "bash_complete", "COMP_WORDS": "ctx mem", "COMP_CWORD": "1"}
    env = {**environment(data_dir), **completing}
    command = [sys.executable, "-c", "from ctx.__main__ import main; main([])"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert "plain,memory" in done.stdout
