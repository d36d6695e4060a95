"""The status of a workspace that is followed: for tools, the command line and metrics."""

from dataclasses import dataclass, field
from typing import Literal

from ctx_indexer.indexing.report import IndexReport

State = Literal["starting", "following", "polling", "waiting", "missing"]
"""How a workspace is followed: by events, by comparing it now and then, or not at the moment."""


@dataclass(frozen=True)
class WorkspaceStatus:
    """A followed workspace. `lag_seconds` is the age of the oldest change that is not indexed.

    `pending` counts the changed paths; `reason` says why it is not followed by events.
    """

    path: str
    repo: str
    collection: str
    state: State
    pending: int
    lag_seconds: float
    watched_folders: int
    updates: int
    failures: int
    reason: str = ""


@dataclass(frozen=True)
class Update:
    """Changes that were brought into the index, and how long after they were made."""

    report: IndexReport
    seconds: float


@dataclass
class Progress:
    """The status of a follower, as it tells it."""

    state: State = "starting"
    reason: str = ""
    updates: int = 0
    failures: int = 0
    behind_since: float = field(default=0.0)  # by the monotonic clock; 0 where nothing is missing
