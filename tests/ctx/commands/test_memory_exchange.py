"""Memories are exported and imported with nothing lost."""

import json
from pathlib import Path

import pytest

from ctx.__main__ import main
from tests.support.processes import environment


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path / "data", monkeypatch)


def use(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(data).items():
        monkeypatch.setenv(name, value)


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.slow
def test_what_is_exported_comes_back_as_it_was(
    env: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, again = tmp_path / "memories.jsonl", tmp_path / "again.jsonl"
    assert main(["remember", "Zürich\u2028deploys\nneed a VPN", "--tags", "VPN,b", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["id"]
    assert main(["remember", "No VPN any more.", "--supersedes", first]) == 0
    assert main(["remember", "Over.", "--expires-at", "2020-01-01", "--collection", "team"]) == 0
    assert main(["memory", "edit", first, "--priority", "7"]) == 0
    assert main(["memory", "export", str(file)]) == 0
    exported = lines(file)
    assert len(exported) == 3
    assert exported[0]["id"] == first
    assert {each["collection"] for each in exported} == {"memories", "team"}

    use(tmp_path / "other", monkeypatch)
    assert main(["memory", "import", str(file)]) == 0
    assert main(["memory", "export", str(again)]) == 0
    assert lines(again) == exported
    capsys.readouterr()
    assert main(["recall", "VPN", "--json"]) == 0
    assert [hit["information"] for hit in json.loads(capsys.readouterr().out)["results"]] == [
        "No VPN any more."
    ]
    assert main(["memory", "import", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == 3

    exported[0]["information"] = "Corrected."
    file.write_text("".join(json.dumps(each) + "\n" for each in exported))
    assert main(["memory", "import", str(file), "--replace", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replaced"] == 3
    assert main(["memory", "show", first]) == 0
    assert "Corrected." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [("{}\nno", "line 2"), ('{"id": "x"}', "exported.0.collection: Missing"), ("[]", "exported")],
)
def test_a_wrong_file_is_refused(
    env: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (tmp_path / "wrong.jsonl").write_text(text)
    assert main(["memory", "import", str(tmp_path / "wrong.jsonl")]) == 2
    assert said in capsys.readouterr().err
