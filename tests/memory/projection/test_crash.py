"""A memory server is killed at random moments while it stores, updates and deletes."""

from pathlib import Path

import pytest

from tests.support.concurrent_stores import run_stores


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_what_was_acknowledged_survives_and_vectors_heal(
    request: pytest.FixtureRequest, database: str, tmp_path: Path
) -> None:
    report = run_stores(request, database, tmp_path, "crash", "--kills", "4", "--seed", "7")
    assert report["acknowledged"] > 10
    assert report["problems"] == []
