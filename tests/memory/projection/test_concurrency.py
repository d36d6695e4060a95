"""Many processes store into one database."""

from pathlib import Path

import pytest

from tests.support.concurrent_stores import run_stores


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_entry_of_eight_processes_is_kept(
    request: pytest.FixtureRequest, database: str, tmp_path: Path
) -> None:
    report = run_stores(request, database, tmp_path, "concurrent", "--stores", "50")
    assert (report["stored"], report["lost"], report["failed_processes"]) == (400, 0, 0)
