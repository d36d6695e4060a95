"""What one check of `ctx doctor` found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """The outcome of one check, and what to do about it."""

    check: str
    state: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""
