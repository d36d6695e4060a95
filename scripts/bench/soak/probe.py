"""Runs a server's module, which tells about its memory when it is asked by a signal.

    python -m scripts.bench.soak.probe ctx_memory

SIGUSR1 writes one line of JSON to the file that SOAK_PROBE_FILE names, SIGUSR2 first collects
garbage. The server itself is as it is shipped.
"""

import asyncio
import ctypes
import gc
import json
import os
import runpy
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from scripts.bench.arguments import program_parser

FILE_SETTING = "SOAK_PROBE_FILE"
MOST_TYPES = 400  # named in one line


class _Heap(ctypes.Structure):
    """What glibc tells of its heap (mallinfo2)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _heap() -> dict[str, float]:
    """Return the bytes that are in use on the heap, and those that are free but kept."""
    try:
        read = ctypes.CDLL(None).mallinfo2
    except AttributeError:  # another library than glibc
        return {}
    read.restype = _Heap
    heap = read()
    return {
        "heap_used_mb": round((heap.uordblks + heap.hblkhd) / 1e6, 3),
        "heap_free_mb": round(heap.fordblks / 1e6, 3),
    }


def _types() -> dict[str, int]:
    counts = Counter(f"{type(each).__module__}.{type(each).__name__}" for each in gc.get_objects())
    return dict(counts.most_common(MOST_TYPES))


def _tasks() -> int:
    """Return the tasks of the loop that runs in the main thread, where signals are handled."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0


def reading(*, collect: bool) -> dict[str, Any]:
    """Return what the process holds now; `collect` leaves out garbage."""
    if collect:
        gc.collect()
    return {
        "blocks": sys.getallocatedblocks(),
        "objects": len(gc.get_objects()),
        "tasks": _tasks(),
        "threads": threading.active_count(),
        **_heap(),
        "types": _types() if collect else {},
    }


def _answer(number: int, _: FrameType | None) -> None:
    found = json.dumps(reading(collect=number == signal.SIGUSR2))
    target = Path(os.environ[FILE_SETTING])
    written = target.with_suffix(".new")
    written.write_text(found)
    written.replace(target)


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("module", help="a server's, such as ctx_memory")
    options, others = parser.parse_known_args()
    signal.signal(signal.SIGUSR1, _answer)
    signal.signal(signal.SIGUSR2, _answer)
    sys.argv = [options.module, *others]
    runpy.run_module(options.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
