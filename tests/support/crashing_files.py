"""A file that kills the process that prepares it, as a defect in native code would."""

import os
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ctx_indexer.indexing.prepare import Job
from ctx_indexer.source.walk import FileLimits, SourceFile


@dataclass(frozen=True)
class DeadlyFile(SourceFile):
    """Reading it ends the process."""

    def text(self, root: Path) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")


@dataclass(frozen=True)
class DeadlyJob(Job):
    """Receiving it ends a worker, whatever files it has."""

    def __setstate__(self, state: dict[str, object]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def deadly_job(root: Path, *, files: int, deadly: int) -> Job:
    made = [_file(DeadlyFile if n == deadly else SourceFile, n) for n in range(files)]
    return Job(root, "repo", datetime.now(UTC), FileLimits(), made)


def _file(kind: type[SourceFile], number: int) -> SourceFile:
    content = f"x = {number}\n".encode()
    return kind(f"m{number}.py", len(content), "b", 1.0, "python", content=content)


_kept: list[bytes] = []


@dataclass(frozen=True)
class GreedyFile(SourceFile):
    """Reading it costs the process memory for good; `pids` names the processes that read some."""

    kept_bytes: int = 0

    def text(self, root: Path) -> str:
        _kept.append(b"x" * self.kept_bytes)
        with (root / "pids").open("a") as pids:
            pids.write(f"{os.getpid()}\n")
        return "x = 1\n"


def greedy_job(root: Path, *, files: int, kept_bytes: int) -> Job:
    """A job of files that each keep so much memory."""
    made = [
        GreedyFile(
            f"g{n}.py", 6, f"{n:040x}", 0.0, "python", content=b"x = 1\n", kept_bytes=kept_bytes
        )
        for n in range(files)
    ]
    return Job(root, "repo", datetime.now(UTC), FileLimits(), made)
