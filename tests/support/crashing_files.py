"""A file that kills the process that prepares it, as a defect in native code would."""

import os
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from services.indexer.indexing.prepare import Job
from services.indexer.source.walk import FileLimits, SourceFile


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
