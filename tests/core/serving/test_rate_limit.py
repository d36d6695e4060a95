"""The token buckets of clients."""

import pytest

from ctx_core.errors import RateLimited
from ctx_core.serving.rate_limit import RateLimiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_then_a_steady_rate() -> None:
    clock = Clock()
    limiter = RateLimiter(per_minute=60, clock=clock)
    for _ in range(10):
        limiter.spend("a")
    with pytest.raises(RateLimited) as raised:
        limiter.spend("a")
    assert raised.value.details["retry_after_seconds"] == 1.0
    clock.now += 1.0
    limiter.spend("a")
    with pytest.raises(RateLimited):
        limiter.spend("a")


def test_clients_do_not_share_a_bucket() -> None:
    limiter = RateLimiter(per_minute=1, clock=Clock())
    limiter.spend("a")
    limiter.spend("b")
    with pytest.raises(RateLimited):
        limiter.spend("a")


def test_zero_is_no_limit() -> None:
    limiter = RateLimiter(per_minute=0, clock=Clock())
    for _ in range(10_000):
        limiter.spend("a")
