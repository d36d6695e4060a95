"""A command does the same by a running server and in its own process."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctx.__main__ import main
from tests.support.processes import environment, running
from tests.support.repositories import Repository, function

# Arguments of `ctx`, in this order on one data folder; {repo} is the indexed repository.
CASES: Mapping[str, tuple[str, ...]] = {
    "index": ("index", "{repo}"),
    "index again": ("index", "{repo}"),
    "index a subfolder": ("index", "{repo}/src"),
    "index into another collection": ("index", "{repo}", "--collection", "other"),
    "index anew": ("index", "{repo}", "--recreate"),
    "index what is no folder": ("index", "{repo}/src/alpha.py"),
    "index what does not exist": ("index", "{repo}/missing"),
    "index into a reserved collection": ("index", "{repo}", "--collection", "memories"),
    "index into a name that is not allowed": ("index", "{repo}", "--collection", "a b"),
    "search": ("search", "alpha"),
    "search with filters": ("search", "alpha", "--language", "python", "--under", "src"),
    "search in vain": ("search", "alpha", "--language", "fortran"),
    "search in a language that is none": ("search", "alpha", "--language", "cobol"),
    "search with a filter in the query": ("search", "alpha", "kind:function"),
    "search with too small a limit": ("search", "alpha", "--limit", "0"),
    "search with too large a limit": ("search", "alpha", "--limit", "100000"),
    "search for nothing": ("search", " "),
    "search by a pattern that is none": ("search", "alpha", "--path-glob", "[" * 5000),
    "callers": ("callers", "alpha"),
    "callers of what is not there": ("callers", "omega"),
    "importers": ("importers", "beta", "--limit", "3"),
    "remember": ("remember", "Deploys need the VPN.", "--tags", "vpn", "--priority", "8"),
    "remember nothing": ("remember", " "),
    "remember with a priority that is none": ("remember", "Text.", "--priority", "99"),
    "recall": ("recall", "what", "do", "deploys", "need"),
    "recall in vain": ("recall", "deploys", "--topic", "nothing"),
    "list memories": ("memory", "list"),
    "show a memory that is none": ("memory", "show", "nothing"),
    "edit a memory that is none": ("memory", "edit", "nothing", "--text", "New."),
    "delete a memory that is none": ("memory", "rm", "nothing", "--yes"),
    "delete without a question": ("memory", "rm", "nothing"),
    "rebuild memories": ("memory", "rebuild"),
    "list threads": ("threads", "list"),
    "search threads": ("threads", "search", "anything"),
    "search threads from nobody": ("threads", "search", "anything", "--source", "nobody"),
    "show a thread that is none": ("threads", "show", "nothing"),
    "delete a thread that is none": ("threads", "rm", "nothing", "--yes"),
    "list collections": ("collections", "list"),
    "prune": ("collections", "prune", "--yes"),
    "drop what holds memories": ("collections", "drop", "memories", "--yes"),
    "drop a collection that is none": ("collections", "drop", "nothing", "--yes"),
    "drop a collection": ("collections", "drop", "other", "--yes"),
    "list workspaces": ("workspaces", "list"),
    "drop a workspace": ("workspaces", "drop", "{repo}", "--yes"),
    "drop it again": ("workspaces", "drop", "{repo}", "--yes"),
}
# What differs from run to run: times, and ids that are made.
TIMES = {
    "processing_time_seconds",
    "search_time_ms",
    "id",
    "created_at",
    "updated_at",
    "last_indexed",
    "stats",
}


@dataclass(frozen=True)
class Outcome:
    """What a command printed as JSON, and its exit code."""

    code: int
    out: Any
    error: Any


Run = Callable[..., Outcome]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "project")
    made.write("src/alpha.py", function("alpha"))
    made.write("src/beta.py", function("beta"))
    made.write("README.md", "# Project\n\nalpha and beta.\n")
    return made


@pytest.fixture
def run(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """Runs `ctx ... --json` in this process; its logging configuration does not outlive a test."""
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def run_command(env: Mapping[str, str], *arguments: str) -> Outcome:
        with monkeypatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            code = main([*arguments, "--json"])
        out, error = capsys.readouterr()
        return Outcome(code, decoded(out), decoded(error))

    yield run_command
    root.handlers[:], root.level = before


def decoded(text: str) -> Any:
    """The JSON without its times."""
    return json.loads(text, object_hook=without_times) if text else None


def without_times(read: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in read.items() if name not in TIMES}


@pytest.mark.slow
def test_both_ways_give_the_same_results_and_errors(
    repository: Repository, tmp_path: Path, run: Run
) -> None:
    workspace = {"CTX_WORKSPACE": str(repository.root)}
    env = environment(tmp_path / "remote", **workspace)
    cases = {
        name: [each.format(repo=repository.root) for each in case] for name, case in CASES.items()
    }
    with running(env):
        remote = {name: run(env, *case) for name, case in cases.items()}
    env = environment(tmp_path / "local", **workspace)
    local = {name: run(env, *case) for name, case in cases.items()}
    for name in CASES:
        assert local[name] == remote[name], name
    assert {name: outcome.code for name, outcome in local.items() if outcome.code} == {
        "index what is no folder": 2,
        "index what does not exist": 2,
        "index into a reserved collection": 2,
        "index into a name that is not allowed": 2,
        "search in vain": 1,
        "search in a language that is none": 2,
        "search with too small a limit": 2,
        "search with too large a limit": 2,
        "search for nothing": 2,
        "search by a pattern that is none": 2,
        "callers": 1,
        "callers of what is not there": 1,
        "importers": 1,
        "remember nothing": 2,
        "remember with a priority that is none": 2,
        "recall in vain": 1,
        "show a memory that is none": 1,
        "edit a memory that is none": 1,
        "delete a memory that is none": 1,
        "delete without a question": 4,
        "list threads": 1,
        "search threads": 1,
        "search threads from nobody": 2,
        "show a thread that is none": 1,
        "delete a thread that is none": 1,
        "drop what holds memories": 2,
        "drop a collection that is none": 3,
        "drop it again": 1,
    }
    assert local["search"].out["results"][0]["path"] == "src/alpha.py"


@pytest.mark.slow
def test_both_ways_refuse_what_read_only_mode_forbids(
    repository: Repository, tmp_path: Path, run: Run
) -> None:
    settings = {"CTX_WORKSPACE": str(repository.root), "CTX_READ_ONLY": "true"}
    env = environment(tmp_path / "remote", **settings)
    with running(env):
        remote = run(env, "index", str(repository.root))
    local = run(environment(tmp_path / "local", **settings), "index", str(repository.root))
    assert local == remote
    assert (local.code, local.error["error_code"]) == (4, "NOT_PERMITTED")


def test_a_local_search_is_of_this_folder_although_others_are_indexed(
    repository: Repository, tmp_path: Path, run: Run
) -> None:
    other = Repository.create(tmp_path / "other")
    other.write("alpha.py", function("alpha"))
    env = environment(tmp_path / "data", CTX_WORKSPACE=str(repository.root / "src"))
    assert run(env, "index", str(other.root)).code == 0
    found = run(env, "search", "alpha")
    assert {hit["path"] for hit in found.out["results"]} == {"src/alpha.py"}
    everywhere = run(env, "search", "alpha", "--repo", "*")
    assert str(other.root / "alpha.py") in {hit["path"] for hit in everywhere.out["results"]}
