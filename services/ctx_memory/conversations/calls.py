"""Counts calls by type and duration, and forgets them after the retention."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta

from typing_extensions import TypedDict

from ctx_core.clock import utc_now
from ctx_memory.records.conversations.calls import CallRecords, CallTotals, CallType

NO_CALLS = CallTotals(0, 0.0)


class CallStatistics(TypedDict):
    """Counts and mean durations in milliseconds by type of call."""

    totalCalls: int
    callsByType: dict[str, int]
    averageDuration: dict[str, float]


class CallTracker:
    """Counts calls in SQL; `gauges` show the totals that this process last read or counted."""

    def __init__(self, records: CallRecords, enabled: bool, retention_days: int) -> None:
        self._records = records
        self._enabled = enabled
        self._retention = timedelta(days=retention_days)
        self._totals: dict[str, CallTotals] = {}

    @property
    def oldest_kept(self) -> datetime:
        """The time before which calls are forgotten."""
        return utc_now() - self._retention

    @contextlib.asynccontextmanager
    async def tracked(self, type_: CallType) -> AsyncIterator[None]:
        """Measure a block, and count it unless it raises."""
        started = time.perf_counter()
        yield
        await self.add(type_, time.perf_counter() - started)

    async def add(self, type_: CallType, seconds: float) -> None:
        """Count a call and its duration, unless counting is off."""
        if not self._enabled:
            return
        await self._records.add(type_.value, seconds)
        known = self._totals.get(type_.value, NO_CALLS)
        total = known.mean_milliseconds * known.count + seconds * 1000
        self._totals[type_.value] = CallTotals(known.count + 1, total / (known.count + 1))

    async def purge(self) -> None:
        """Forget calls beyond the retention, and read the totals anew."""
        await self._records.purge(self.oldest_kept)
        await self.refresh()

    async def refresh(self) -> None:
        """Read the totals of all processes for the gauges."""
        self._totals = await self._records.totals(self.oldest_kept, utc_now())

    async def statistics(self, since_ms: int | None, until_ms: int | None) -> CallStatistics:
        """Return the calls between two times in milliseconds since 1970."""
        since = self.oldest_kept if since_ms is None else _time(since_ms)
        until = utc_now() if until_ms is None else _time(until_ms)
        return _statistics(await self._records.totals(since, until))

    def gauges(self) -> dict[str, Callable[[], float]]:
        """Return the gauges of the metrics: count and mean seconds of each type."""
        found: dict[str, Callable[[], float]] = {}
        for type_ in CallType:
            found[f"conversation_calls_{type_.value}"] = self._reader(type_, "count", 1.0)
            found[f"conversation_call_mean_seconds_{type_.value}"] = self._reader(
                type_, "mean_milliseconds", 0.001
            )
        return found

    def _reader(self, type_: CallType, field: str, factor: float) -> Callable[[], float]:
        return lambda: float(getattr(self._totals.get(type_.value, NO_CALLS), field)) * factor


def _statistics(totals: Mapping[str, CallTotals]) -> CallStatistics:
    by_type = {type_.value: totals.get(type_.value, NO_CALLS) for type_ in CallType}
    return {
        "totalCalls": sum(each.count for each in by_type.values()),
        "callsByType": {name: each.count for name, each in by_type.items()},
        "averageDuration": {
            name: round(each.mean_milliseconds, 2) for name, each in by_type.items()
        },
    }


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
