"""What an agent has read so far, call by call, and what it cost."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from scripts.bench.agents.questions import Target

CHARACTERS_PER_TOKEN = 4


class ShownLine(NamedTuple):
    """A line that an answer shows, and where in the answer it ends.

    `around` is the qualified name of the definition that holds it, where the answer says so.
    """

    end: int
    path: str
    line: int
    around: str | None = None


@dataclass
class Transcript:
    """The calls of an agent, their characters, and when each line was first seen."""

    calls: int = 0
    characters: int = 0
    seen: dict[tuple[str, int], int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    names: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)

    def add(self, call: str, answer: str, places: Iterable[ShownLine]) -> None:
        """Count a call with its answer, and what the answer shows."""
        self.calls += 1
        self.characters += len(call)
        for place in places:
            at = self.characters + place.end
            self.seen.setdefault((place.path, place.line), at)
            self.files.setdefault(place.path, at)
            if place.around is not None:
                self.names.setdefault((place.path, place.line), (place.around, at))
        self.characters += len(answer)

    @property
    def tokens(self) -> int:
        return self.characters // CHARACTERS_PER_TOKEN

    def cost(self, target: Target) -> int | None:
        """Return the tokens after which a target had been shown; None where it was not."""
        if not target.lines:
            at = self.files.get(target.path)
        else:
            costs = sorted(
                self.seen[target.path, line]
                for line in target.lines
                if (target.path, line) in self.seen
            )
            at = costs[target.needed - 1] if len(costs) >= target.needed else None
        if at is None or target.around is None:
            return None if at is None else at // CHARACTERS_PER_TOKEN
        known = self._around_cost(target)
        return None if known is None else max(at, known) // CHARACTERS_PER_TOKEN

    def _around_cost(self, target: Target) -> int | None:
        """Return when the definition around a target was known, by its name or by its line.

        A name inside of it (a variable of the class) says it too.
        """
        costs = []
        plain = (target.around or "").split(".")[-1]
        for line in target.lines:
            name, at = self.names.get((target.path, line), ("", 0))
            if plain in name.split("."):
                costs.append(at)
        if (target.path, target.around_line or 0) in self.seen:
            costs.append(self.seen[target.path, target.around_line or 0])
        return min(costs) if costs else None
