"""The two sides of a merge, and what one merge of a file gives."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Side(Enum):
    """Whose version stands where both sides changed the same thing differently."""

    OURS = "ours"
    THEIRS = "theirs"

    def of(self, ours: T, theirs: T) -> T:
        return ours if self is Side.OURS else theirs


@dataclass(frozen=True)
class Merged:
    """A merged text. `conflicts` says where only the preferred side's version is in it."""

    text: str
    conflicts: tuple[str, ...] = ()
