"""Guests of `sys.path`, and the environment of children."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctx_core.environment.import_path import ordered
from tests.support.processes import ROOT

LIBRARY, PACKAGES, OURS, GUEST = "/lib", "/lib/site-packages", "/opt/ctx", "/project"


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        ([GUEST, LIBRARY, PACKAGES], [], [LIBRARY, PACKAGES]),
        ([GUEST, "/other", LIBRARY], [], [LIBRARY]),
        ([GUEST, OURS, LIBRARY], [OURS], [OURS, LIBRARY]),
        ([GUEST, LIBRARY, PACKAGES, OURS], [], [LIBRARY, PACKAGES, OURS]),
        ([GUEST, LIBRARY, PACKAGES, OURS, OURS], [OURS], [OURS, LIBRARY, PACKAGES]),
        ([LIBRARY, GUEST, PACKAGES], [LIBRARY, GUEST], [LIBRARY, PACKAGES]),
        ([LIBRARY, PACKAGES, GUEST], [PACKAGES], [LIBRARY, PACKAGES, GUEST]),
        ([GUEST, PACKAGES], [], [GUEST, PACKAGES]),  # no library: a Python of another kind
    ],
)
def test_guests_are_left_out(path: list[str], asked: list[str], expected: list[str]) -> None:
    assert ordered(path, LIBRARY, [OURS], asked) == expected


def test_a_folder_that_packages_were_installed_in_goes_last(tmp_path: Path) -> None:
    """As by `pip install --target`."""
    (tmp_path / "click-8.2.dist-info").mkdir()
    assert ordered([str(tmp_path), LIBRARY], LIBRARY, [OURS], []) == [LIBRARY, str(tmp_path)]


CODE = """
import json, os, sys
sys.path.reverse()
from ctx_core.environment.import_path import given_environment, leave_guests_out
leave_guests_out()
names = ("PYTHONPATH", "PYTHONSAFEPATH")
given = given_environment()
print(json.dumps([sys.path, *([env.get(name) for name in names] for env in (os.environ, given))]))
"""


@pytest.mark.parametrize("given", [None, "", "guest", "a:guest/", ":"])
def test_workers_inherit_the_order_and_other_programs_what_was_given(
    tmp_path: Path, given: str | None
) -> None:
    env = {"HOME": str(tmp_path)} | ({} if given is None else {"PYTHONPATH": given})
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=env, stdout=subprocess.PIPE, check=True
    )
    path, workers, others = json.loads(done.stdout)
    assert str(ROOT / "services") in path
    assert not [each for each in path if each.startswith(str(tmp_path))]
    assert workers == [None if given is None else ":".join(path), "1"]
    assert others == [given, None]
