"""Ignore files: the same paths as git leaves out, in bounded time."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from ctx_indexer.source.ignore import MAX_PATTERNS, IgnoreRules

NAMES = ["a", "b", "ab", "build", "x.py", "x.log", "a b", "[x]", "#c", "!d"]
PARTS = ["*", "**", "a*", "*.py", "b?", "[ab]", "[!a]*", "build", "a", "x.log", r"\#c", "ab", "*b*"]


def random_pattern(made: random.Random) -> str:
    body = "/".join(made.choice(PARTS) for _ in range(made.randrange(1, 4)))
    sign = made.choice(["", "", "", "!"])
    return sign + made.choice(["", "", "/"]) + body + made.choice(["", "", "/", " "])


def git_excludes(root: Path, path: str) -> bool:
    done = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "-q", "--no-index", path], check=False
    )
    return done.returncode == 0


def excludes(rules: IgnoreRules, path: str) -> bool:
    """As the walk asks: every folder above, then the file."""
    parts = path.split("/")
    above = ("/".join(parts[:count]) + "/" for count in range(1, len(parts)))
    return any(map(rules.excludes, above)) or rules.excludes(path)


@pytest.mark.parametrize("seed", range(12))
def test_rules_are_those_of_git(tmp_path: Path, seed: int) -> None:
    made = random.Random(seed)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    paths = {"/".join(made.choice(NAMES) for _ in range(made.randrange(1, 4))) for _ in range(12)}
    paths = {path for path in paths if not any(o.startswith(f"{path}/") for o in paths)}
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    files = {"": [random_pattern(made) for _ in range(4)]}
    if inner := next((path.split("/")[0] for path in sorted(paths) if "/" in path), None):
        files[f"{inner}/"] = [random_pattern(made) for _ in range(2)]
    rules = IgnoreRules()
    for folder, lines in files.items():
        (tmp_path / folder / ".gitignore").write_text("\n".join(lines) + "\n")
        rules.add_file(folder, lines)
    wrong = {path for path in paths if excludes(rules, path) != git_excludes(tmp_path, path)}
    assert wrong == set(), files


@pytest.mark.parametrize("line", ["", "   ", "# x", "/", "!", "[b-a]", "x\\", "[", "x" * 2000])
def test_lines_that_say_nothing(line: str) -> None:
    rules = IgnoreRules()
    rules.add_file("", [line])
    assert not rules.excludes("x")
    assert not rules.excludes("a/")


@pytest.mark.slow
def test_hostile_files_take_bounded_time(caplog: pytest.LogCaptureFixture) -> None:
    rules = IgnoreRules()
    rules.add_file("", ["**/" * 300 + "x", "*a" * 400 + "b", *(f"*{n}*x" for n in range(50_000))])
    assert "only the first" in caplog.text
    deep = "a/" * 1000 + "a" * 250
    started = time.perf_counter()
    assert not rules.excludes(deep)
    assert time.perf_counter() - started < 2
    assert rules.excludes(f"{MAX_PATTERNS - 10}x")


def test_many_ignore_files_cost_their_own_folders_only() -> None:
    rules = IgnoreRules()
    for number in range(20_000):
        rules.add_file(f"d{number}/", ["*.log"])
    started = time.perf_counter()
    assert sum(rules.excludes(f"d{number}/x.log") for number in range(20_000)) == 20_000
    assert time.perf_counter() - started < 5


def test_two_files_of_one_folder_rule_together() -> None:
    rules = IgnoreRules()
    rules.add_file("", ["*.log", "out/"])
    rules.add_file("", ["!keep.log", "private/"])
    for path in ("x.log", "out/", "private/"):
        assert rules.excludes(path)
    assert not rules.excludes("keep.log")
