"""scripts/constraints.txt pins everything that is installed."""

import re

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from scripts.constraints import FILE, declared, installed
from tests.support.processes import ROOT

LINE = re.compile(r"([a-z0-9][a-z0-9-]*)==([0-9][\w.]*)")


@pytest.fixture(scope="module")
def pinned() -> dict[str, str]:
    found = [LINE.fullmatch(line) for line in FILE.read_text().splitlines()[1:]]
    assert all(found), "a name and a version a line, no address and no option"
    return {match[1]: match[2] for match in found if match}


def test_every_declared_dependency_is_pinned_within_its_bounds(pinned: dict[str, str]) -> None:
    outside = [
        str(requirement)
        for requirement in declared()
        if not SpecifierSet(str(requirement.specifier)).contains(
            pinned.get(canonicalize_name(requirement.name), "0")
        )
    ]
    assert outside == []


def test_every_dependency_of_a_dependency_is_pinned(pinned: dict[str, str]) -> None:
    found = installed()
    assert len(found) > len(declared())
    assert found.keys() - pinned.keys() == set(), "run: .venv/bin/python scripts/constraints.py"


@pytest.mark.parametrize("path", ["scripts/setup", "deploy/docker/Dockerfile"])
def test_what_installs_uses_the_pins(path: str) -> None:
    text = (ROOT / path).read_text()
    commands = text.split("pip install")[1:]
    assert commands
    for command in commands:
        assert re.search(r"--constraint (scripts/)?constraints\.txt|==\d", command.split("\n\n")[0])
