"""A rebuild that ends when the test has seen enough of it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from ctx_core.vectors.protocol import VectorStore

SEARCHES = 3  # while it is surely under way

T = TypeVar("T")
Answer = TypeVar("Answer")


class Rebuild(Generic[T]):
    """A rebuild whose swap waits until the test allows it."""

    def __init__(self, vectors: VectorStore, rebuild: Coroutine[Any, Any, T]) -> None:
        self._may_end = asyncio.Event()
        self._swap = vectors.swap
        setattr(vectors, "swap", self._swap_later)  # noqa: B010 - a method of a protocol
        self.task = asyncio.create_task(rebuild)

    @classmethod
    async def begun(
        cls, vectors: VectorStore, collection: str, rebuild: Coroutine[Any, Any, T]
    ) -> "Rebuild[T]":
        """One that is under way."""
        begun = cls(vectors, rebuild)
        while not await vectors.rebuilding(collection):
            assert not begun.task.done(), "it ended before it was seen"
            await asyncio.sleep(0)
        return begun

    async def _swap_later(self, name: str, built: str) -> None:
        await self._may_end.wait()
        await self._swap(name, built)

    async def end(self) -> T:
        self._may_end.set()
        return await self.task

    async def watched(self, ask: Callable[[], Awaitable[Answer]]) -> list[Answer]:
        """Every answer until it is over, and one after it."""
        answers = [await ask() for _ in range(SEARCHES)]
        assert not self.task.done(), "nothing was searched meanwhile: nothing was tested"
        self._may_end.set()
        while not self.task.done():
            answers.append(await ask())
            await asyncio.sleep(0)
        return [*answers, await ask()]
