"""Constants that shown code uses: which lines of the file are shown with it."""

import pytest

from ctx_indexer.search.constants import MAX_CONSTANTS, constant_lines, fitting
from ctx_indexer.search.snippet import Rows

PYTHON = """\
import os

RETRIES = 3
_WAIT: Final[float] = 0.5
HOSTS = {
    "a": 1,
}
UNUSED = 1


def fetch(url):
    LOCAL = 1
    for _ in range(RETRIES):
        wait(_WAIT, HOSTS, LOCAL, other.RETRIES)
    print("UNUSED", MISSING)
"""


def test_the_lines_that_define_what_is_used_are_shown_in_order() -> None:
    rows = Rows(PYTHON.split("\n"))
    shown = "\n".join(rows.rows[10:])
    assert constant_lines(rows, shown, 11, 15) == [
        "3\tRETRIES = 3",
        "4\t_WAIT: Final[float] = 0.5",
        "5\tHOSTS = { …",
    ]
    assert constant_lines(rows, "fetch(url)", 11, 15) == []


@pytest.mark.parametrize(
    "line",
    [
        "const MAX_SIZE = 10;",
        "export const MAX_SIZE: number = 10;",
        "pub const MAX_SIZE: usize = 10;",
        "    private static final int MAX_SIZE = 10;",
        "  static constexpr std::size_t MAX_SIZE = 10;",
        "#define MAX_SIZE 10",
        "readonly MAX_SIZE=10",
    ],
)
def test_definitions_of_other_languages(line: str) -> None:
    rows = Rows([line, "", "if (n > MAX_SIZE) {"])
    assert constant_lines(rows, rows.line(3), 3, 3) == [f"1\t{line.strip()}"]


@pytest.mark.parametrize("line", ["MAX_SIZE(10)", "    MAX_SIZE = 10", "if MAX_SIZE == 10:"])
def test_what_defines_no_constant_of_the_file(line: str) -> None:
    assert constant_lines(Rows([line, "use(MAX_SIZE)"]), "use(MAX_SIZE)", 2, 2) == []


def test_they_are_few_and_fit() -> None:
    names = [f"NAME_{number}" for number in range(10)]
    rows = Rows([*(f"{name} = {'1' * 500}" for name in names), " ".join(names)])
    lines = constant_lines(rows, rows.line(11), 11, 11)
    assert len(lines) == MAX_CONSTANTS
    assert max(map(len, lines)) < 130
    assert fitting(lines, 260) == lines[:2]


def test_prose_defines_no_constant() -> None:
    rows = Rows(["submitted in a POST request to be lost.", "", "GET", "POST and GET are limited"])
    assert constant_lines(rows, "parameters received via GET or POST", 4, 4) == []
