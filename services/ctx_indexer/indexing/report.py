"""The report of an index run, and the progress it tells meanwhile."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["copying", "scanning", "writing", "removing", "done"]


@dataclass(frozen=True)
class Progress:
    """The progress of a run: its stage, and how many of its files are done."""

    stage: Stage
    done: int
    total: int
    chunks: int = 0


Listener = Callable[[Progress], Awaitable[None]]


async def no_progress(_: Progress) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Failure:
    """A file that could not be indexed, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True)
class IndexReport:
    """The counts of one run. `chunks` counts those written, `files` and `size` all indexed files.

    `shared` counts the added and changed files that needed no writing: another checkout has them.
    `copied` counts, for each other repo, the chunks copied into a recreated collection; `redacted`
    the secrets taken out of the files written, by kind.
    """

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
    copied: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    shared: int = 0

    @property
    def written(self) -> int:
        return self.added + self.changed - self.shared
