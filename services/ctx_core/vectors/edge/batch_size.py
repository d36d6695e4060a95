"""The size of a batch that one engine call writes, adjusted to how long calls take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

# The embedded engine holds the interpreter during a call, so a call is a pause of the whole
# process. A new point takes 0.1 ms, a replaced one up to 1 ms: no fixed number of points keeps a
# call short.
TARGET_SECONDS = 0.015
INITIAL_SIZE = 16
MIN_SIZE = 1
MAX_SIZE = 128  # larger calls save nothing: 16 points and 500 cost the same per point


class BatchSize:
    """The size of the next batch: halved after a slow call, doubled after a quick one."""

    def __init__(self) -> None:
        self.size = INITIAL_SIZE

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Adjust the size by the duration of the block."""
        started = time.perf_counter()
        yield
        self.adjust(time.perf_counter() - started)

    def adjust(self, seconds: float) -> None:
        """Adjust the size by the duration of a call."""
        if seconds > TARGET_SECONDS:
            self.size = max(MIN_SIZE, self.size // 2)
        elif seconds < TARGET_SECONDS / 3:
            self.size = min(MAX_SIZE, self.size * 2)
