"""Writes scripts/constraints.txt: the version of every dependency that is installed here.

    .venv/bin/python scripts/constraints.py

`scripts/setup` installs with it, so that a fresh install next year is today's. Run it after
`scripts/setup dev` with the versions that passed the tests. --check fails where it would change.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# The extra `llm` is compiled where it is installed, and not installed for the tests.
BY_HAND = {"llama-cpp-python": "0.3.36", "diskcache": "5.6.3", "jinja2": "3.1.6"}
FILE = Path(__file__).with_name("constraints.txt")
HEAD = "# Written by scripts/constraints.py: the versions that passed the tests.\n"


def declared() -> list[Requirement]:
    """Return every requirement of pyproject.toml, the extras' too."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras = [text for extra in project["optional-dependencies"].values() for text in extra]
    found = [Requirement(text) for text in (*project["dependencies"], *extras)]
    return [each for each in found if each.name != project["name"]]


def installed() -> dict[str, str]:
    """Return the version of everything that the project needs on this machine."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    waiting = [each for each in declared() if each.name not in BY_HAND and is_needed(each)]
    while waiting:
        requirement = waiting.pop()
        key = f"{canonicalize_name(requirement.name)}{sorted(requirement.extras)}"
        if key not in seen:
            seen.add(key)
            found[canonicalize_name(requirement.name)] = metadata.version(requirement.name)
            waiting += needs_of(requirement)
    return found


def needs_of(requirement: Requirement) -> Iterator[Requirement]:
    """Yield what an installed requirement needs in turn, with its extras."""
    for text in metadata.requires(requirement.name) or ():
        needed = Requirement(text)
        if any(is_needed(needed, extra) for extra in ("", *requirement.extras)):
            yield needed


def is_needed(requirement: Requirement, extra: str = "") -> bool:
    """Tell whether a requirement's marker holds here."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def constraints() -> str:
    """Return the text of the file."""
    pinned = installed() | BY_HAND
    return HEAD + "".join(f"{name}=={version}\n" for name, version in sorted(pinned.items()))


def main() -> int:
    """Write the file, or tell with 1 that it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when stale")
    text = constraints()
    if parser.parse_args().check:
        return int(not FILE.is_file() or FILE.read_text() != text)
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
