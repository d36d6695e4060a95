"""`ctx token`: made, listed and revoked; shown once."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctx.cli import cli


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CTX_DATA_DIR", str(tmp_path))
    return tmp_path


def run(arguments: Sequence[str]) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["token", *arguments], standalone_mode=False)
    return int(done.return_value or 0), done.output


def json_of(*arguments: str) -> dict[str, Any]:
    code, output = run([*arguments, "--json"])
    assert code == 0, output
    body: dict[str, Any] = json.loads(output)
    return body


def test_a_token_is_made_listed_and_revoked(data_dir: Path) -> None:
    limits = ("--project", "app", "--project", "lib", "--collection", "team")
    made = json_of("create", "--name", "ci", "--scope", "write", "--expires", "30d", *limits)
    assert made["token"].startswith("ctx_")
    assert len(made["token"]) >= 43
    [listed] = json_of("list")["tokens"]
    assert listed["id"] == made["id"]
    assert (listed["scope"], listed["projects"], listed["collections"]) == (
        "write",
        ["app", "lib"],
        ["team"],
    )
    assert (listed["limited"], listed["expired"]) == (True, False)
    assert made["token"] not in json.dumps(listed) + run(["list"])[1]
    assert json_of("revoke", made["id"])["revoked"] == [made["id"]]
    assert json_of("list")["tokens"] == []
    assert (data_dir / "tokens.json").exists()


def test_an_unknown_id_is_said_and_revokes_nothing(data_dir: Path) -> None:
    made = json_of("create", "--scope", "read")
    code, output = run(["revoke", "00000000"])
    assert (code, "00000000" in output) == (1, True)
    assert [each["id"] for each in json_of("list")["tokens"]] == [made["id"]]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--scope", "read", "--expires", "soon"],
        ["--scope", "read", "--expires", "2001-01-01"],
        ["--scope", "read", "--collection", ""],
        ["--scope", "read", "--project", "a\nb"],
    ],
)
def test_wrong_values_make_no_token(data_dir: Path, wrong: list[str]) -> None:
    code, output = run(["create", *wrong])
    assert code == 2, output
    assert not (data_dir / "tokens.json").exists()
