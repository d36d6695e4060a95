"""Memory of indexing: the same files again and again take no more than once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT
from tests.support.repositories import Repository

RUNS = 100
WARM_UP = 15  # runs after which caches are filled and the allocator has its arenas
READ_AT_ONCE = 32 * 1024  # bytes that a parser takes of a callback
MOST_GROWTH_MB = 3  # after them; a tree parsed through a callback leaked 135 MB a run

# One arena for all threads: else what a run keeps depends on which of them allocate at once, and a
# busy machine adds up to 11 MB in 25 runs that come to rest later.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}

PAGE = '<div class="row" id="n{0}"><a href="/p/{0}">item {0}</a><script>run({0})</script></div>\n'
METHOD = "def s{0}(v)\n  require 'x{0}'\n  call{0}(v)\nend\n"


def large_files(repository: Repository) -> None:
    """Files larger than what a parser reads at once, in languages whose queries have predicates."""
    repository.write("page.html", "".join(PAGE.format(n) for n in range(390)))
    repository.write("steps.rb", "".join(METHOD.format(n) for n in range(840)))
    for file in repository.root.glob("[ps]*"):
        assert file.stat().st_size > READ_AT_ONCE, file


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_hundred_runs_take_no_more_memory_than_fifteen(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "workspace")
    large_files(repository)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.support.index_repeater",
            str(tmp_path / "data"),
            str(repository.root),
            str(RUNS),
        ],
        cwd=ROOT,
        env=os.environ | ONE_ARENA,
        check=True,
        capture_output=True,
        text=True,
    )
    sizes = [float(line) for line in done.stdout.split()]
    assert len(sizes) == RUNS
    assert sizes[-1] - sizes[WARM_UP] < MOST_GROWTH_MB, sizes[::10]
