"""What every report of a bench shares: percentiles, the machine's load, the commit."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the 50th, 95th and 99th percentile in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100)
    return {
        name: round(cuts[n - 1] * 1000, 1) for name, n in (("p50", 50), ("p95", 95), ("p99", 99))
    }


def with_load(figures: dict[str, Any]) -> dict[str, Any]:
    """Add the load average of the last minute."""
    return figures | {"load": round(os.getloadavg()[0], 1)}


def note(text: str) -> None:
    """Print a line of progress to standard error."""
    print(f"[{time.strftime('%H:%M:%S')}, load {os.getloadavg()[0]:.1f}] {text}", file=sys.stderr)


def commit() -> str:
    """Return the short hash of the commit that is measured."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
