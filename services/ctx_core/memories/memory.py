"""A memory as it is searched, and the filters of a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctx_core.memories.metadata import EXPIRES_AT, SUPERSEDED, clean_tags, folded
from ctx_core.vectors.queries import AtLeast, Condition, DatetimeRange, Filter, Match, MatchAny


@dataclass(frozen=True)
class Memory:
    """A memory to project into Qdrant."""

    id: str
    information: str
    metadata: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The text that is embedded and searched: the information and part of the metadata."""
        extra = [self.metadata.get(key) for key in ("topic", "code", "path")]
        tags = " ".join(self.metadata.get("tags", ()))
        return "\n".join(str(part) for part in [self.information, *extra, tags] if part)


@dataclass(frozen=True)
class MemoryFilters:
    """The filters of `find`."""

    kind: str | None = None
    language: str | None = None
    topic: str | None = None
    tags: Sequence[str] = ()
    priority_min: int | None = None

    def filter(self, now: datetime) -> Filter:
        """Return the store's filter: texts compare without case, one of the tags suffices.

        Expired and superseded memories do not pass.
        """
        exact = {"kind": self.kind, "language": self.language, "topic": self.topic}
        must: list[Condition] = [Match(k, folded(v)) for k, v in exact.items() if v]
        tags = clean_tags(self.tags)
        if tags:
            must.append(MatchAny("tags", [folded(tag) for tag in tags]))
        if self.priority_min is not None:
            must.append(AtLeast("priority", self.priority_min))
        forgotten: list[Condition] = [Match(SUPERSEDED, True), DatetimeRange(EXPIRES_AT, lte=now)]
        return Filter(must=must, must_not=forgotten)
