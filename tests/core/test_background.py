"""Work in the background of a block."""

import asyncio

import pytest

from services.core.background import in_background


async def test_the_work_runs_during_the_block_and_has_ended_after_it() -> None:
    events: list[str] = []

    async def work() -> None:
        events.append("started")
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            events.append("ended")

    async with in_background(work()):
        await asyncio.sleep(0.01)
        assert events == ["started"]
    assert events == ["started", "ended"]


async def test_an_error_of_the_block_ends_the_work_too() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(ValueError, match="of the block"):
        async with in_background(work()):
            await asyncio.sleep(0)
            raise ValueError("of the block")
    assert ended.is_set()


async def test_an_error_of_the_work_is_raised_at_the_end() -> None:
    async def work() -> None:
        raise RuntimeError("of the work")

    with pytest.raises(RuntimeError, match="of the work"):
        async with in_background(work()):
            await asyncio.sleep(0.01)
