"""How much to hand to the engine at once, learnt from how long it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

# The embedded engine holds the interpreter during a call, so a call is a pause of the whole
# process. New points take 0.1 ms each, replaced ones up to 1 ms, multivectors more: no fixed
# number of points keeps a call short, so the number follows the clock.
TARGET_SECONDS = 0.015
FIRST = 16
SMALLEST = 1
# Larger calls save nothing: 16 points and 500 cost the same per point.
LARGEST = 128


class Pace:
    """The size of the next batch: halved after a slow call, doubled after a quick one."""

    def __init__(self) -> None:
        self.size = FIRST

    @contextmanager
    def timed(self) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.learn(time.perf_counter() - started)

    def learn(self, seconds: float) -> None:
        if seconds > TARGET_SECONDS:
            self.size = max(SMALLEST, self.size // 2)
        elif seconds < TARGET_SECONDS / 3:
            self.size = min(LARGEST, self.size * 2)
