"""CPU seconds and memory of a process and of the processes it started, read from /proc."""

import json
import os
import resource
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

SAMPLE_SECONDS = 0.2  # reading a process's memory map halts it for a moment
TICKS = os.sysconf("SC_CLK_TCK")


def process_tree(pid: int) -> list[int]:
    """Return the process and every descendant that still runs."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat_fields(int(folder.name))):
            parents[int(folder.name)] = int(fields[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def _stat_fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def cpu_seconds(pid: int, *, with_children: bool = False) -> float:
    """Return the CPU time of a process, on request with the children that it has waited for."""
    fields = _stat_fields(pid)
    return sum(map(int, fields[11 : 15 if with_children else 13])) / TICKS if fields else 0.0


def own_cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def resident_mb(pid: int | Literal["self"]) -> dict[str, float]:
    """Return the resident memory of a process: now, at its peak, and what of it is no file's."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if "kB" in line}
    names = {"rss": "VmRSS", "peak": "VmHWM", "anonymous": "RssAnon"}
    return {name: round(values[field], 1) for name, field in names.items()}


def mapped_mb(pid: int) -> dict[str, float]:
    """Return each figure of a process's memory map; nothing where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}


def watch(command: list[str], env: Mapping[str, str]) -> dict[str, Any]:
    """Run a command that prints JSON, and add what its process tree used until it ended.

    Of the memory, `pss` counts shared pages once; `pss_dirty` leaves out the pages of files that
    are on the disk as they are in memory, which the system drops where it needs room.
    """
    began = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    cpu: dict[int, float] = {}
    peak = {"Pss": 0.0, "Pss_Dirty": 0.0, "Rss": 0.0, "Anonymous": 0.0}
    while process.poll() is None:
        members = process_tree(process.pid)
        for pid in members:  # a child of another member is a member itself
            seconds = cpu_seconds(pid, with_children=pid == process.pid)
            cpu[pid] = max(cpu.get(pid, 0.0), seconds)
        mapped = [mapped_mb(pid) for pid in members]
        peak = {
            field: max(most, sum(each.get(field, 0.0) for each in mapped))
            for field, most in peak.items()
        }
        time.sleep(SAMPLE_SECONDS)
    wall = time.perf_counter() - began
    printed: dict[str, Any] = json.loads(process.communicate()[0])
    total = sum(cpu.values())
    return printed | {
        "wall_s": round(wall, 2),
        "cpu_s": round(total, 2),
        "files_per_cpu_s": round(printed["files"] / total, 1),
        "chunks_per_cpu_s": round(printed["chunks"] / total, 1),
        "peak_mb": {field.lower(): round(value) for field, value in peak.items()},
    }
