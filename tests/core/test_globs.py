"""Path patterns: what they match, and that none takes long."""

import re
import time

import pytest

from ctx_core.globs import InvalidGlob, path_expression

MOST_SECONDS = 0.5  # of one match; an expression that backtracks takes years


def matches(pattern: str, path: str) -> bool:
    return re.match(rf"(?:{path_expression(pattern)})\Z", path, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("**/*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a", "a/src/b"]),
        (
            "src/**/test_*.py",
            ["src/test_a.py", "src/a/b/test_.py"],
            ["src/xtest_a.py", "test_a.py"],
        ),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/c", "a/b/b/c", "a/b/x/b/c"], ["a/c", "a/b", "b/c"]),
        ("**/a/b/**/c", ["a/a/b/c", "a/x/a/b/y/c"], ["a/x/b/c"]),
        ("*a*b*c", ["abc", "xaybzc", "aabbcc", "abcc"], ["acb", "a/b/c"]),
        ("*ab*abc", ["ababc", "xabyabc", "abababc"], ["abc", "abab"]),
        ("?[!a-c]x", ["ddx"], ["dax", "d/x", "dx"]),
        ("a[[:digit:]-]", ["a1", "a-"], ["ab", "a"]),
        ("[]x]", ["]", "x"], ["a"]),
        (r"a\*[*]", ["a**"], ["axx"]),
        ("a.b+c", ["a.b+c"], ["axb+c", "a.bbc"]),
    ],
)
def test_patterns(pattern: str, matching: list[str], others: list[str]) -> None:
    assert [path for path in matching if not matches(pattern, path)] == []
    assert [path for path in others if matches(pattern, path)] == []


@pytest.mark.parametrize("pattern", ["[b-a]", "x[z-a]y"])
def test_what_matches_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidGlob):
        path_expression(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/" * 150 + "x", "a/" * 2000),
        ("**/a/" * 90 + "x", "a/" * 2000),
        ("**/*a" * 90 + "b", "a/" * 2000),
        ("**/*a*a*/" * 40 + "b", "aaaa/" * 800),
        ("*a" * 240 + "b", "a" * 4000),
        ("*?" * 240 + "b", "a" * 4000),
        ("*[a-z]" * 80 + "1", "a" * 4000),
        ("a*/" * 150 + "z", "a/" * 2000),
        ("*" * 480 + "b", "a" * 4000),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    expression = re.compile(rf"(?:{path_expression(pattern)})\Z", re.DOTALL)
    started = time.perf_counter()
    assert expression.match(path) is None
    assert time.perf_counter() - started < MOST_SECONDS
