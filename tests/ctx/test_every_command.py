"""Every command, as the tree of commands has it: its JSON, its plain text and its exit codes.

Nothing runs here and nothing is stored, so that most calls find nothing: what they print for
that is what scripts trip over. A new command is called without a word about it in this file.
"""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ctx.__main__ import main
from ctx.cli import Command, cli
from ctx.exit_code import Exit
from tests.ctx.test_cli import command_at, commands
from tests.support.processes import environment
from tests.support.repositories import Repository, function

NAME = "nope"
SERVE = {("up",), ("stdio",), ("watch",)}  # until they are stopped
LEAVES = [path for path in commands(cli) if isinstance(command_at(path), Command)]
CALLED = [path for path in LEAVES if path not in SERVE]
DESTROYING = [
    path
    for path in CALLED
    if path != ("doctor",)  # that does with --fix alone
    and any(each.name == "yes" for each in command_at(path).params)
]
OPENED = re.compile(r"\x1b|\r")  # of colours, and of a bar that is drawn anew


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder with a project, in which all calls are made."""
    home = tmp_path_factory.mktemp("home")
    project = Repository.create(home / "project")
    project.write("alpha.py", function("alpha"))
    project.commit("Alpha")
    with pytest.MonkeyPatch.context() as patch:
        env = environment(home / "data", HOME=str(home), FORCE_COLOR="1", TERM="xterm")
        for name, value in env.items():
            patch.setenv(name, value)
        patch.chdir(project.root)
        yield project.root


def words_of(path: tuple[str, ...]) -> list[str]:
    """A call with what the command must be given, and nothing that is there."""
    given: list[str] = []
    for parameter in command_at(path).params:
        if not parameter.required:
            continue
        chosen = parameter.type.choices[0] if isinstance(parameter.type, click.Choice) else NAME
        given += [str(chosen)] if isinstance(parameter, click.Argument) else []
        given += [parameter.opts[0], str(chosen)] if isinstance(parameter, click.Option) else []
    return [*path, *given]


def codes_of(path: tuple[str, ...]) -> set[int]:
    """The exit codes that the help of a command has."""
    described = command_at(path)
    assert isinstance(described, Command)
    return {int(code) for code in Exit if code is not Exit.NO or described.no}


def call(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO("from standard input\n"))
        code = main(words)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("path", CALLED, ids=" ".join)
def test_json_is_one_object_on_one_stream(
    path: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call([*words_of(path), "--json"], capsys)
    assert code in codes_of(path), err
    if out:
        body = json.loads(out)
        assert isinstance(body["ok"], bool)
        assert not (body["ok"] and "error" in body)
        assert code in (Exit.DONE, Exit.NO)
    else:
        body = json.loads(err.splitlines()[-1])
        assert (body["ok"], bool(body["error"]), bool(body["error_code"])) == (False, True, True)
        assert code != Exit.DONE


@pytest.mark.parametrize("path", CALLED, ids=" ".join)
def test_text_is_plain_where_no_terminal_is(
    path: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(words_of(path), capsys)
    assert code in codes_of(path), err
    assert out.strip() or err.strip(), "it says nothing"
    assert not OPENED.search(out + err)
    assert out.strip() or err.splitlines()[-1].startswith("ctx: ")


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_wrong_use_is_an_error_in_json_too(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call([*path, "--no-such-option", "--json"], capsys)
    assert (code, out) == (Exit.WRONG_USE, "")
    body = json.loads(err)
    assert (body["ok"], body["error_code"]) == (False, "VALIDATION_ERROR")
    assert "--no-such-option" in body["error"]


@pytest.mark.parametrize("path", DESTROYING, ids=" ".join)
def test_what_destroys_is_refused_where_nobody_can_answer(
    path: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or there is nothing to destroy, which may be said before."""
    code, _, err = call(words_of(path), capsys)
    assert code in (Exit.REFUSED, Exit.NO, Exit.WRONG_USE), err
    assert "--yes" in err or NAME in err
