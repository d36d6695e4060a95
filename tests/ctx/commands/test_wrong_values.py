"""Commands that are given what is not there, or what does not fit together."""

import json
import sys
from pathlib import Path

import pytest

from ctx.code.question import WITHOUT_FOLDER
from tests.support.processes import ROOT, environment, run_ctx, running
from tests.support.repositories import Repository, function

GRAPH = ("callers", "importers", "symbol")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = Repository.create(tmp_path / "project")
    project.write("alpha.py", function("alpha"))
    project.commit("Alpha")
    return project.root


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "data", HOME=str(tmp_path))


@pytest.mark.parametrize("command", GRAPH)
def test_a_name_that_nobody_defines_is_not_found(
    env: dict[str, str], project: Path, command: str
) -> None:
    done = run_ctx(env, command, "alphq", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no indexed file defines 'alphq'; similar names: alpha" in done.stderr
    assert "ctx search alphq" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("prompt", "alpha", "--cmd", "/no/such/command"), "--cmd: /no/such/command cannot be"),
        (("prompt", "alpha", "--cmd", "'unbalanced"), "cannot be started"),
        (("prompt", "alpha", "--cmd", " "), "--cmd: is empty"),
        (("prompt", "alpha", "--cmd", "cat", "--json"), "leave out --json"),
        (("memory", "export", "-", "--json"), "leave out --json"),
        (("settings", "set", "CTX_HOST", ""), "ctx settings unset CTX_HOST"),
        (("knowledge", "add", "queue", "--text", " "), "--text: is empty"),
        (("model", "pull", "nope"), "no model is called 'nope'"),
        (("model", "use", ""), "name: is empty"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_values_are_wrong_use(
    env: dict[str, str], project: Path, words: tuple[str, ...], said: str
) -> None:
    done = run_ctx(env, *words, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_prompt_goes_to_the_command_and_its_code_comes_back(
    env: dict[str, str], project: Path
) -> None:
    reader = f"{sys.executable} -c 'import sys; print(sys.stdin.read()); sys.exit(7)'"
    done = run_ctx(env, "prompt", "alpha", "--cmd", reader, cwd=project)
    assert done.returncode == 7
    assert "- alpha.py:1-" in done.stdout


def test_an_unknown_setting_is_said(env: dict[str, str], project: Path) -> None:
    done = run_ctx(env, "settings", "show", "CTX_NOPE", cwd=project)
    assert (done.returncode, done.stdout) == (1, "There is none.\n")


def test_tools_without_a_folder_are_known() -> None:
    """A filter that a tool does not have would be ignored, with a warning at each call."""
    listed = json.loads((ROOT / "tests" / "golden" / "tools_indexer.json").read_text())
    tools = {name: tool["inputSchema"]["properties"] for name, tool in listed.items()}
    assert not [name for name in WITHOUT_FOLDER if "under" in tools[name]]
    asked = {"repo_search", "search_callers_for", "search_importers_for"}
    assert not [name for name in asked if "under" not in tools[name]]


@pytest.mark.slow
def test_what_a_running_server_answers_about_a_folder(
    env: dict[str, str], project: Path, tmp_path: Path
) -> None:
    empty = Repository.create(tmp_path / "empty").root
    with running(env | {"CTX_WORKSPACE": str(empty)}):
        for folder in (project, empty):
            assert run_ctx(env, "index", str(folder)).returncode == 0
        nothing = run_ctx(env, "search", "alpha", cwd=empty)
        assert (nothing.returncode, nothing.stdout) == (3, "")
        assert f"{empty} has no files to search" in nothing.stderr
        for words in (["symbol", "alpha"], ["history", "alpha.py"], ["history", "--search", "a"]):
            done = run_ctx(env, *words, cwd=project)
            assert (done.returncode, "ignored" in done.stderr) == (0, False), done
            assert str(project) not in done.stdout + done.stderr  # as it is written here
