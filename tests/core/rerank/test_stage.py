"""The reranking stage: scores in time or not at all, and never on the event loop."""

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ctx_core.errors import TimedOut
from ctx_core.rerank.reranker import MAX_CHARACTERS, RerankStage, open_stage


class Lengths:
    """Scores a text by its length, after some time."""

    name = "lengths"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.thread = 0

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.thread = threading.get_ident()
        time.sleep(self._seconds)
        return [len(text) / MAX_CHARACTERS for text in texts]


async def test_each_text_is_scored_in_order_and_by_its_beginning() -> None:
    stage = RerankStage(Lengths(), 5.0)
    assert await stage.score("query", ["x" * 100, "x" * 3 * MAX_CHARACTERS, ""]) == [0.05, 1.0, 0.0]
    assert stage.model == "lengths"


async def test_the_model_works_off_the_event_loop() -> None:
    reranker = Lengths(seconds=0.3)
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    beside = asyncio.create_task(turn())
    await RerankStage(reranker, 5.0).score("query", ["text"])
    beside.cancel()
    assert turns >= 5
    assert reranker.thread != threading.get_ident()


async def test_the_deadline_holds() -> None:
    started = time.perf_counter()
    with pytest.raises(TimedOut, match=r"took longer than 0\.05 s"):
        await RerankStage(Lengths(seconds=3), 0.05).score("query", ["text"])
    assert time.perf_counter() - started < 2


async def test_an_error_of_the_model_is_not_hidden() -> None:
    class Broken(Lengths):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise RuntimeError("no memory left")

    with pytest.raises(RuntimeError, match="no memory left"):
        await RerankStage(Broken(), 5.0).score("query", ["text"])


def test_without_a_model_there_is_no_stage(tmp_path: Path) -> None:
    assert open_stage(None, tmp_path, 5.0) is None
