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
    ("path", "expected"),
    [
        ([GUEST, LIBRARY, PACKAGES], [LIBRARY, PACKAGES, GUEST]),
        ([GUEST, "/other", LIBRARY], [LIBRARY, GUEST, "/other"]),
        ([GUEST, OURS, LIBRARY], [OURS, LIBRARY, GUEST]),
        ([LIBRARY, PACKAGES, OURS], [LIBRARY, PACKAGES, OURS]),
        ([GUEST, LIBRARY, PACKAGES, OURS, OURS], [LIBRARY, PACKAGES, OURS, GUEST]),
        ([GUEST, PACKAGES], [GUEST, PACKAGES]),  # no library: a Python of another kind
    ],
)
def test_guests_go_last(path: list[str], expected: list[str]) -> None:
    assert ordered(path, LIBRARY, OURS) == expected


CODE = """
import json, os, sys
sys.path.reverse()
from ctx_core.environment.import_path import given_environment, put_guests_last
put_guests_last()
names = ("PYTHONPATH", "PYTHONSAFEPATH")
given = given_environment()
print(json.dumps([sys.path, *([env.get(name) for name in names] for env in (os.environ, given))]))
"""


@pytest.mark.parametrize("given", [None, "guest"])
def test_workers_inherit_the_order_and_other_programs_what_was_given(
    tmp_path: Path, given: str | None
) -> None:
    env = {"HOME": str(tmp_path)} | ({} if given is None else {"PYTHONPATH": given})
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=env, stdout=subprocess.PIPE, check=True
    )
    path, workers, others = json.loads(done.stdout)
    assert str(ROOT / "services") in path
    if given is None:
        assert workers == [None, "1"]
    else:
        assert path.index(str(tmp_path / given)) > path.index(str(ROOT / "services"))
        assert workers == [":".join(path), "1"]
    assert others == [given, None]
