"""What a process takes as it is called: read again and again, and how fast it grows."""

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.bench.usage import mapped_mb

ANSWER_SECONDS = 30.0
POLL_SECONDS = 0.01
WARM_UP_SHARE = 0.4  # of the readings: caches and the allocator's arenas fill
KB = 1024


@dataclass(frozen=True)
class Reading:
    """What a process takes after so many calls."""

    calls: int
    anonymous_mb: float
    pss_mb: float
    files: int
    blocks: int  # that Python allocated
    objects: int
    tasks: int
    threads: int
    heap_used_mb: float
    types: dict[str, int] = field(default_factory=dict, compare=False)


class Process:
    """A server that runs under the probe."""

    def __init__(self, pid: int, answers: Path) -> None:
        self.pid = pid
        self._answers = answers

    def read(self, calls: int, *, collect: bool) -> Reading:
        """Ask it what it takes now. Blocks."""
        answer = self._ask(signal.SIGUSR2 if collect else signal.SIGUSR1)
        mapped = mapped_mb(self.pid)
        return Reading(
            calls,
            round(mapped["Anonymous"], 2),
            round(mapped["Pss"], 2),
            len(list((Path("/proc") / str(self.pid) / "fd").iterdir())),
            answer["blocks"],
            answer["objects"],
            answer["tasks"],
            answer["threads"],
            answer.get("heap_used_mb", 0.0),
            answer["types"],
        )

    def _ask(self, number: signal.Signals) -> dict[str, Any]:
        self._answers.unlink(missing_ok=True)
        os.kill(self.pid, number)
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self._answers.exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} did not tell what it takes")
            time.sleep(POLL_SECONDS)
        answer: dict[str, Any] = json.loads(self._answers.read_text())
        return answer


def growth(readings: Sequence[Reading]) -> dict[str, float]:
    """Return the growth per 1,000 calls after the warm-up, by least squares."""
    warm = readings[int(len(readings) * WARM_UP_SHARE) :]
    calls = [each.calls for each in warm]
    return {
        "anonymous_kb": round(_slope(calls, [each.anonymous_mb * KB for each in warm]), 1),
        "heap_kb": round(_slope(calls, [each.heap_used_mb * KB for each in warm]), 1),
        "blocks": round(_slope(calls, [each.blocks for each in warm]), 1),
        "objects": round(_slope(calls, [each.objects for each in warm]), 1),
    }


def _slope(calls: Sequence[int], values: Sequence[float]) -> float:
    """Return the rise of the values per 1,000 calls."""
    if len(calls) < 2:
        return 0.0
    mean_x, mean_y = sum(calls) / len(calls), sum(values) / len(values)
    spread = sum((x - mean_x) ** 2 for x in calls)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in zip(calls, values, strict=True))
    return rise / spread * 1000 if spread else 0.0


def grown_types(first: Reading, last: Reading, most: int = 12) -> dict[str, int]:
    """Return the types with more objects than before, most first."""
    grown = {name: count - first.types.get(name, 0) for name, count in last.types.items()}
    ordered = sorted(grown.items(), key=lambda each: -each[1])
    return {name: more for name, more in ordered[:most] if more > 0}
