"""Where files are prepared: a thread for a few, processes for many."""

import asyncio
import contextlib
import logging
import multiprocessing
import os
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.context import BaseContext

from services.core.errors import IndexingFailed
from services.indexer.indexing import prepare as preparing
from services.indexer.indexing.prepare import Job, Prepared, enter_worker, prepare
from services.indexer.indexing.report import Failure
from services.indexer.source.walk import SourceFile

log = logging.getLogger(__name__)

# Below both, a thread is done before a process has started; above, it would slow the server down.
FEW_FILES = 64
FEW_BYTES = 512 * 1024
# Of one job: large enough that sending it costs nothing, small enough that results flow.
JOB_FILES = 32
JOB_BYTES = 256 * 1024
JOBS_AHEAD = 2  # a worker; bounds what waits in memory

Outcome = Prepared | Failure


class Workers:
    """Prepares the files of one run.

    The processes of a run end with it. They are forked from a server that has already imported
    what they need, which starts with the first run and stays: a later run pays 10 ms, not 600.
    """

    def __init__(self, processes: int = 0) -> None:
        self._processes = processes or os.cpu_count() or 1

    async def prepared(self, job: Job) -> AsyncGenerator[Outcome, None]:
        """Every file of the job, in order, while a bounded number is prepared ahead."""
        few = len(job.files) < FEW_FILES and sum(f.size for f in job.files) < FEW_BYTES
        width = 1 if few else self._processes
        waiting: deque[tuple[Job, asyncio.Future[list[Outcome]]]] = deque()
        with _Pool(width, threads=few) as pool:
            for part in parts(job):
                waiting.append((part, pool.submit(part)))
                if len(waiting) > width * JOBS_AHEAD:
                    for outcome in await _outcomes(pool, *waiting.popleft()):
                        yield outcome
            while waiting:
                for outcome in await _outcomes(pool, *waiting.popleft()):
                    yield outcome


def parts(job: Job) -> Iterator[Job]:
    """The job cut into jobs of a size that is worth sending."""
    files: list[SourceFile] = []
    size = 0
    for file in job.files:
        if files and (len(files) == JOB_FILES or size + file.size > JOB_BYTES):
            yield replace(job, files=files)
            files, size = [], 0
        files.append(file)
        size += file.size
    if files:
        yield replace(job, files=files)


async def _outcomes(
    pool: "_Pool", job: Job, answer: "asyncio.Future[list[Outcome]]"
) -> Sequence[Outcome]:
    """A file that kills its worker (a parser is native code) is found by trying one at a time."""
    try:
        return await answer
    except BrokenProcessPool:
        log.warning("a worker died; its %d files are tried one at a time", len(job.files))
    found: list[Outcome] = []
    await _require_workers(pool, job)
    for file in job.files:
        try:
            found += await pool.submit(replace(job, files=[file]))
        except BrokenProcessPool:
            found.append(Failure(file.path, "killed the worker that read it"))
    return found


async def _require_workers(pool: "_Pool", job: Job) -> None:
    """No file is to blame where a worker dies of nothing."""
    try:
        await pool.submit(replace(job, files=[]))
    except BrokenProcessPool as error:
        raise IndexingFailed(
            "The processes that prepare files end as soon as they start; the log has their last "
            "words. If memory is short, set CTX_INDEX_WORKERS=1."
        ) from error


class _Pool:
    """An executor that is replaced when it breaks."""

    def __init__(self, width: int, *, threads: bool) -> None:
        self._width = width
        self._threads = threads
        self._executor = self._started()

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    def submit(self, job: Job) -> "asyncio.Future[list[Outcome]]":
        loop = asyncio.get_running_loop()
        with contextlib.suppress(BrokenProcessPool):
            return loop.run_in_executor(self._executor, prepare, job)
        self._executor.shutdown(wait=False)
        self._executor = self._started()
        return loop.run_in_executor(self._executor, prepare, job)

    def _started(self) -> Executor:
        if self._threads:
            return ThreadPoolExecutor(self._width, thread_name_prefix="prepare")
        return ProcessPoolExecutor(self._width, mp_context=_context(), initializer=enter_worker)


def _context() -> BaseContext:
    """Never a plain fork: this process has threads. Where there is no fork server, spawn."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preparing.__name__])
    return context
