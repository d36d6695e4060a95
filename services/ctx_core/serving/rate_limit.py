"""Limit the calls of each client with a token bucket."""

import time
from collections import OrderedDict
from collections.abc import Callable

from ctx_core.errors import RateLimited

MAX_CLIENTS = 10_000  # the least recently seen is dropped: its bucket is full again
SECONDS_PER_MINUTE = 60.0
BURST_SECONDS = 10.0  # a client that was quiet may spend this much of its minute at once


class RateLimiter:
    """Allows each client `per_minute` calls a minute, with a burst; 0 is no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / SECONDS_PER_MINUTE
        self._burst = max(1.0, self._per_second * BURST_SECONDS)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, client: str) -> None:
        """Take one call from the client's bucket, or raise RateLimited."""
        if not self._per_second:
            return
        now = self._clock()
        tokens, seen = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - seen) * self._per_second)
        allowed = tokens >= 1.0
        self._buckets[client] = (tokens - 1.0 if allowed else tokens, now)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if not allowed:
            wait = round((1.0 - tokens) / self._per_second, 2)
            raise RateLimited(
                f"Too many calls; try again in {wait} s (CTX_RATE_LIMIT_PER_MINUTE).",
                retry_after_seconds=wait,
            )
