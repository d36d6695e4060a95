"""Functions have few parameters, and docstrings a concrete subject."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.architecture.test_imports import ROOT, sources

MOST_PARAMETERS = 8  # without self; more are one value that has no name yet
# Functions that are being changed.
LONG: set[str] = set()
COMMANDS, SETTINGS = "ctx/commands/", "services/ctx_core/settings/"
Function = ast.FunctionDef | ast.AsyncFunctionDef

# "What a declaration names is of the scope around" has no subject: say which thing does what.
HANGING = re.compile(r"\bwhat\b|\bthose that\b|\bof which\b", re.IGNORECASE)
HANGING_SHARE = 0.02  # read beside well-kept libraries: 0 to 0.016


def functions(source: str) -> Iterator[Function]:
    """Yield every function of a file, inner ones and methods as well."""
    nodes = ast.walk(ast.parse(source))
    yield from (node for node in nodes if isinstance(node, Function))


def has_parameters_of_a_contract(path: str) -> bool:
    """Tools have the parameters of their contract, commands their options, settings their keys."""
    if path.startswith((COMMANDS, SETTINGS)):
        return True
    inside = PurePath(path).with_suffix("").parts
    return any(part == "tools" or part.endswith("_tools") for part in inside)


def is_long(function: Function) -> bool:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"])) > MOST_PARAMETERS


def long_functions(path: str, source: str) -> Iterator[str]:
    """Yield the functions of a file that have too many parameters."""
    if not has_parameters_of_a_contract(path):
        yield from (f"{path}: {each.name}" for each in functions(source) if is_long(each))


def docstrings(source: str) -> Iterator[str]:
    """Yield the docstrings of a file, of its classes and of its functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            yield ast.get_docstring(node) or ""


def test_functions_have_few_parameters() -> None:
    found = {
        each
        for path in sources()
        for each in long_functions(path.relative_to(ROOT).as_posix(), path.read_text())
    }
    assert found - LONG == set()
    assert LONG - found == set(), "no longer long: take it out of LONG"


@pytest.mark.parametrize(
    ("path", "parameters", "long"),
    [
        ("services/ctx_memory/records/store.py", "a, b, c, d, *, e, f, g, h, i", True),
        ("services/ctx_memory/records/store.py", "self, a, b, c, d, e, f, g, h", False),
        ("services/ctx_memory/memories/tools.py", "a, b, c, d, e, f, g, h, i", False),
        ("services/ctx_indexer/tools/exact.py", "a, b, c, d, e, f, g, h, i", False),
        ("services/ctx_memory/threads/search_tools.py", "a, b, c, d, e, f, g, h, i", False),
        ("ctx/commands/setup/install.py", "a, b, c, d, e, f, g, h, i", False),
        ("ctx/client.py", "a, b, c, d, e, f, g, h, i", True),
    ],
)
def test_the_law_of_parameters_can_fail(path: str, parameters: str, long: bool) -> None:
    assert bool([*long_functions(path, f"async def f({parameters}): ...")]) is long


def test_docstrings_have_a_subject() -> None:
    found = [each for path in sources() for each in docstrings(path.read_text()) if each]
    hanging = [each for each in found if HANGING.search(each)]
    assert len(hanging) / len(found) <= HANGING_SHARE, f"{len(hanging)} of {len(found)}"


@pytest.mark.parametrize(
    ("text", "hangs"),
    [
        ("What a declaration names is of the scope around.", True),
        ("Return those that have changed.", True),
        ("Bind the declared name in the enclosing scope.", False),
        ("Return whatever is somewhat new.", False),
    ],
)
def test_hanging_docstrings_are_found(text: str, hangs: bool) -> None:
    [found] = docstrings(f'"""{text}"""')
    assert bool(HANGING.search(found)) is hangs
