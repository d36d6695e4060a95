"""What an index run says: how far it is, and what it did."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Stage = Literal["carrying", "looking", "writing", "removing", "done"]


@dataclass(frozen=True)
class Progress:
    """How far a run is, in files."""

    stage: Stage
    done: int
    total: int
    chunks: int = 0


Listener = Callable[[Progress], Awaitable[None]]


async def no_progress(_: Progress) -> None:
    """For who does not want to know."""


@dataclass(frozen=True)
class Failure:
    """A file that could not be indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class IndexReport:
    """What one run found and did. `chunks` counts those written, `files` all that are indexed.

    `carried` counts the chunks of other repos that a new collection took over from the old one.
    """

    workspace: Path
    subdir: str
    collection: str
    repo: str
    recreated: bool
    added: int
    changed: int
    removed: int
    unchanged: int
    chunks: int
    files: int
    size: int
    seconds: float
    failures: Sequence[Failure]
    skipped: Mapping[str, int]
    carried: Mapping[str, int] = field(default_factory=dict)

    @property
    def written(self) -> int:
        return self.added + self.changed
