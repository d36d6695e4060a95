"""Threads for blocking work: bounded, and left behind when a call is given up."""

import asyncio
import contextvars
import multiprocessing
import threading
import time
from collections.abc import Iterator

import pytest

from ctx_core import blocking
from ctx_core.blocking import BlockingPool
from ctx_core.errors import StorageFailed, TimedOut
from ctx_core.serving.mcp.calls import run_with_deadline

DEADLINE = 0.2  # seconds
PATIENCE = 5.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What stuck calls wait for; opened at the end, so that their threads end too."""
    event = threading.Event()
    yield event
    event.set()


async def abandon(pool: BlockingPool, gate: threading.Event) -> None:
    """Let a call hang until its deadline."""
    started = time.monotonic()
    with pytest.raises(TimedOut):
        await run_with_deadline(lambda: pool.run(gate.wait), "stuck", DEADLINE)
    assert time.monotonic() - started < PATIENCE


async def test_a_call_returns_raises_and_sees_its_context() -> None:
    pool, variable = BlockingPool("test", 1), contextvars.ContextVar("test", default="none")
    variable.set("mine")
    assert await pool.run(variable.get) == "mine"
    assert await pool.run(int, "11", base=2) == 3
    with pytest.raises(ValueError, match="invalid literal"):
        await pool.run(int, "x")


async def test_no_more_threads_than_the_width_work_at_once() -> None:
    pool, running, most = BlockingPool("test", 3), 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    await asyncio.gather(*(pool.run(work) for _ in range(30)))
    assert most == 3


async def test_a_stuck_call_answers_at_its_deadline_and_others_go_on(gate: threading.Event) -> None:
    pool = BlockingPool("test", 1)
    for _ in range(3):
        await abandon(pool, gate)
    assert pool._abandoned == 3
    async with asyncio.timeout(PATIENCE):
        assert await pool.run(str, 1) == "1"
    gate.set()
    await asyncio.to_thread(_wait_until_free, pool)
    assert await pool.run(str, 2) == "2"


def _wait_until_free(pool: BlockingPool) -> None:
    until = time.monotonic() + PATIENCE
    while pool._abandoned:
        assert time.monotonic() < until
        time.sleep(0.01)


async def test_calls_that_wait_behind_a_stuck_one_go_on_when_it_is_given_up(
    gate: threading.Event,
) -> None:
    pool = BlockingPool("test", 1)
    stuck = asyncio.create_task(abandon(pool, gate))
    await asyncio.sleep(DEADLINE / 4)
    async with asyncio.timeout(PATIENCE):
        assert await pool.run(str, 1) == "1"
    await stuck


async def test_a_call_that_still_waits_is_never_begun(gate: threading.Event) -> None:
    pool = BlockingPool("test", 1)
    begun: list[int] = []
    first = asyncio.create_task(pool.run(gate.wait))
    await asyncio.sleep(0)
    second = asyncio.create_task(pool.run(begun.append, 1))
    await asyncio.sleep(DEADLINE / 4)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    assert (begun, pool._abandoned) == ([], 0)


async def test_too_many_stuck_threads_are_an_error(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocking, "MAX_ABANDONED", 2)
    pool = BlockingPool("test", 1)
    await abandon(pool, gate)
    await abandon(pool, gate)
    with pytest.raises(StorageFailed, match="2 earlier calls still hang"):
        await pool.run(str, 1)


def test_a_forked_process_has_threads_of_its_own() -> None:
    pool = BlockingPool("test", 1)
    assert asyncio.run(pool.run(int, "1")) == 1
    child = multiprocessing.get_context("fork").Process(
        target=lambda: asyncio.run(pool.run(int, "2"))
    )
    child.start()
    child.join(10)
    assert child.exitcode == 0
