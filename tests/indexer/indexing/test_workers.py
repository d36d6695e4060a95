"""Workers that are really killed by the file or the job they are given."""

import subprocess
import sys
from pathlib import Path

import pytest

from ctx_core.errors import IndexingFailed
from ctx_indexer.indexing import workers
from ctx_indexer.indexing.report import Failure
from tests.support.crashing_files import DeadlyJob, deadly_job, greedy_job


async def test_a_file_that_kills_its_worker_is_named(tmp_path: Path) -> None:
    """The worker is really killed: by a job that asks it to."""
    job = deadly_job(tmp_path, files=workers.FEW_FILES + 2, deadly=5)
    outcomes = [outcome async for outcome in workers.Workers(2).prepare(job)]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert [failure.path for failure in failed] == ["m5.py"]
    assert "killed" in failed[0].reason
    assert len(outcomes) == workers.FEW_FILES + 2


async def test_workers_that_cannot_live_end_the_run(tmp_path: Path) -> None:
    job = deadly_job(tmp_path, files=workers.FEW_FILES + 2, deadly=-1)
    with pytest.raises(IndexingFailed, match="CTX_INDEX_WORKERS"):
        async for _ in workers.Workers(2).prepare(DeadlyJob(**vars(job))):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("kept_mb", "is_replaced"), [(2, True), (0, False)])
async def test_a_worker_that_grows_is_replaced(
    tmp_path: Path, kept_mb: int, is_replaced: bool
) -> None:
    files = 8 * workers.JOB_FILES
    job = greedy_job(tmp_path, files=files, kept_bytes=kept_mb * 1024**2)
    outcomes = [outcome async for outcome in workers.Workers(2).prepare(job)]
    assert len(outcomes) == files
    assert not any(isinstance(outcome, Failure) for outcome in outcomes)
    processes = set((tmp_path / "pids").read_text().split())
    assert (len(processes) > 2) == is_replaced


def test_a_worker_imports_nothing_that_only_a_server_needs() -> None:
    """Each of these takes 5 to 30 MB, in every worker and in the fork server."""
    heavy = "numpy pydantic pydantic_settings tokenizers onnxruntime qdrant_edge sqlalchemy mcp"
    code = f"import sys, {workers.__name__}; print({{*'{heavy}'.split()}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
