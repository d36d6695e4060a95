"""Background tasks: they run during a block, start again after errors, and count for readiness."""

import asyncio
from itertools import pairwise

import pytest

from ctx_core import background
from ctx_core.background import BackgroundTasks
from ctx_core.errors import Unexpected


async def forever() -> None:
    await asyncio.sleep(3600)


async def test_the_work_runs_during_the_block_and_has_ended_after_it() -> None:
    events: list[str] = []

    async def work() -> None:
        events.append("started")
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            events.append("ended")

    tasks = BackgroundTasks()
    async with tasks.run("work", work):
        await asyncio.sleep(0.01)
        assert events == ["started"]
        await tasks.check()
    assert events == ["started", "ended"]


async def test_an_error_of_the_block_ends_the_work_too() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await forever()
        finally:
            ended.set()

    with pytest.raises(ValueError, match="of the block"):
        async with BackgroundTasks().run("work", work):
            await asyncio.sleep(0)
            raise ValueError("of the block")
    assert ended.is_set()


@pytest.mark.parametrize(
    "error", [KeyError("secret-host"), asyncio.CancelledError()], ids=["an error", "cancelled"]
)
async def test_work_that_fails_is_not_ready_until_it_has_run_soundly(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "FIRST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(background, "SOUND_SECONDS", 0.3)
    starts: list[float] = []
    recovered = asyncio.Event()

    async def work() -> None:
        starts.append(asyncio.get_running_loop().time())
        if len(starts) <= 3:
            raise error
        recovered.set()
        await forever()

    tasks = BackgroundTasks()
    async with tasks.run("retries", work):
        await asyncio.sleep(0.01)
        with pytest.raises(Unexpected, match="retries failed") as raised:
            await tasks.check()
        assert "secret-host" not in str(raised.value)  # only the log has the error's own text
        async with asyncio.timeout(20):
            await recovered.wait()
        with pytest.raises(Unexpected):
            await tasks.check()
        await asyncio.sleep(0.35)
        await tasks.check()
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    assert pauses[0] < pauses[1] < pauses[2]  # it backs off
    assert caplog.text.count("background task retries failed") == 3


async def test_work_that_ends_is_noticed() -> None:
    async def work() -> None:
        return

    tasks = BackgroundTasks()
    async with tasks.run("work", work):
        await asyncio.sleep(0.01)
        with pytest.raises(Unexpected, match="work has ended"):
            await tasks.check()


async def test_work_that_may_end_is_never_seen_as_ended() -> None:
    tasks = BackgroundTasks()
    seen: list[asyncio.Task[None]] = []

    async def short() -> None:
        task = asyncio.current_task()
        assert task is not None
        seen.append(task)

    async with tasks.run("short", short, ends=True):
        while not (seen and seen[0].done()):
            await asyncio.sleep(0)
            await tasks.check()  # also in the very step in which the task is done


async def test_work_that_swallows_a_cancellation_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "CANCEL_AGAIN_SECONDS", 0.05)
    swallowed = []

    async def work() -> None:
        try:
            await forever()
        except asyncio.CancelledError:
            swallowed.append(True)
        await forever()

    async with asyncio.timeout(5), BackgroundTasks().run("work", work):
        await asyncio.sleep(0.01)
    assert swallowed == [True]
