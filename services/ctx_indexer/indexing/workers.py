"""Workers that prepare files: a thread for a few, processes for many."""

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import NamedTuple

from ctx_core.errors import IndexingFailed
from ctx_indexer.indexing.prepare import Job, Prepared, prepare
from ctx_indexer.indexing.report import Failure
from ctx_indexer.source.walk import SourceFile

log = logging.getLogger(__name__)

# Below both, a thread is done before a process has started; above, it would slow the server.
FEW_FILES = 64
FEW_BYTES = 512 * 1024
# Size of one job: large enough that sending it costs little, small enough that results flow.
JOB_FILES = 32
JOB_BYTES = 256 * 1024
JOBS_AHEAD = 2  # per worker; bounds the memory of jobs that wait
# Objects allocated between two garbage collections of a worker: chunks have no cycles, and
# collecting took a tenth of the time.
GC_THRESHOLD = 100_000
# A worker that keeps so much more than it started with is replaced: parsers and the allocator give
# little back, and a run over many files would grow with their number.
GROWN_BYTES = 16 * 1024 * 1024

Outcome = Prepared | Failure


class Done(NamedTuple):
    """The outcomes of a job, and whether its worker keeps too much memory."""

    outcomes: list[Outcome]
    has_grown: bool


class Workers:
    """Prepares the files of a run in processes that end with it.

    The first run starts a fork server that stays and has imported this module: later runs pay
    10 ms per process instead of 600.
    """

    def __init__(self, processes: int = 0) -> None:
        self._processes = processes or os.cpu_count() or 1

    async def prepare(self, job: Job) -> AsyncGenerator[Outcome, None]:
        """Yield the outcome of each file in order, while a bounded number is prepared ahead.

        Raises IndexingFailed where no worker process can run.
        """
        few = len(job.files) < FEW_FILES and sum(f.size for f in job.files) < FEW_BYTES
        width = 1 if few else self._processes
        pending: deque[tuple[Job, asyncio.Future[Done]]] = deque()
        with _Pool(width, threads=few) as pool:
            for part in split_job(job):
                pending.append((part, pool.submit(part)))
                while len(pending) > (0 if pool.has_grown else width * JOBS_AHEAD):
                    for outcome in await _outcomes(pool, *pending.popleft()):
                        yield outcome
                if pool.has_grown:  # their jobs are done: old and new workers do not add up
                    pool.renew()
            while pending:
                for outcome in await _outcomes(pool, *pending.popleft()):
                    yield outcome


def split_job(job: Job) -> Iterator[Job]:
    """Split a job into jobs of a size that is worth sending; files of a queue are taken off it."""
    files: list[SourceFile] = []
    size = 0
    for file in _taken(job.files):
        if files and (len(files) == JOB_FILES or size + file.size > JOB_BYTES):
            yield replace(job, files=files)
            files, size = [], 0
        files.append(file)
        size += file.size
    if files:
        yield replace(job, files=files)


def _taken(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    if not isinstance(files, deque):
        yield from files
        return
    while files:
        yield files.popleft()


async def _outcomes(pool: "_Pool", job: Job, future: "asyncio.Future[Done]") -> Sequence[Outcome]:
    """Await a job. Where its worker died (parsers are native code), try its files one at a time."""
    try:
        done = await future
        pool.has_grown |= done.has_grown
        return done.outcomes
    except BrokenProcessPool:
        log.warning("a worker died; its %d files are tried one at a time", len(job.files))
    outcomes: list[Outcome] = []
    await _require_workers(pool, job)
    for file in job.files:
        try:
            outcomes += (await pool.submit(replace(job, files=[file]))).outcomes
        except BrokenProcessPool:
            outcomes.append(Failure(file.path, "killed the worker that read it"))
    return outcomes


async def _require_workers(pool: "_Pool", job: Job) -> None:
    """Raise IndexingFailed if a worker dies on an empty job: the pool is broken, not a file."""
    try:
        await pool.submit(replace(job, files=[]))
    except BrokenProcessPool as error:
        raise IndexingFailed(
            "The processes that prepare files end as soon as they start; the log has their last "
            "words. If memory is short, set CTX_INDEX_WORKERS=1."
        ) from error


class _Pool:
    """An executor that is replaced when it breaks, or a worker of it has grown."""

    def __init__(self, width: int, *, threads: bool) -> None:
        self._width = width
        self._threads = threads
        self._executor = self._start()
        self.has_grown = False

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    def submit(self, job: Job) -> "asyncio.Future[Done]":
        loop = asyncio.get_running_loop()
        work = _work_in_thread if self._threads else _work
        with contextlib.suppress(BrokenProcessPool):
            return loop.run_in_executor(self._executor, work, job)
        self.renew()
        return loop.run_in_executor(self._executor, work, job)

    def renew(self) -> None:
        """Replace the workers, which have no jobs any more."""
        self._executor.shutdown(wait=False)
        self._executor = self._start()
        self.has_grown = False

    def _start(self) -> Executor:
        if self._threads:
            return ThreadPoolExecutor(self._width, thread_name_prefix="prepare")
        return ProcessPoolExecutor(self._width, mp_context=_context(), initializer=enter_worker)


def _context() -> BaseContext:
    """Return the start method: fork server, else spawn. A plain fork breaks with threads."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _work(job: Job) -> Done:
    """Do a job in a worker process."""
    return Done(prepare(job), _own_bytes() - _initial_bytes > GROWN_BYTES)


def _work_in_thread(job: Job) -> Done:
    return Done(prepare(job), has_grown=False)


_initial_bytes = 0  # of this worker, before its first job


def _own_bytes() -> int:
    """Return the resident memory of this process that is no file's; 0 where Linux does not say."""
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def enter_worker() -> None:
    """Initialise a worker process: it ignores Ctrl-C and ends with its parent.

    The pool's pipes stay open in the other workers, so a killed parent is not noticed by them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(GC_THRESHOLD)
    global _initial_bytes  # noqa: PLW0603 - set once, before the worker's first job
    _initial_bytes = _own_bytes()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
