"""What a server acknowledged, and what may therefore be found in it."""

from collections import Counter
from dataclasses import dataclass, field

GONE = None  # the text of what was deleted


@dataclass
class Claim:
    """What one entry must say: the last text acknowledged, or one whose answer never came."""

    sure: str | None
    possible: set[str | None] = field(default_factory=set)

    def accept(self, text: str | None) -> None:
        """Note an acknowledged change."""
        self.sure, self.possible = text, set()

    def allows(self, text: str | None) -> bool:
        return text == self.sure or text in self.possible


@dataclass
class Ledger:
    """The claims on one server, by what names an entry, and how its calls ended."""

    memories: dict[str, Claim] = field(default_factory=dict)  # by uuid
    threads: dict[int, Claim] = field(default_factory=dict)  # by the number of the entry
    messages: set[str] = field(default_factory=set)  # texts
    knowledge: dict[str, Claim] = field(default_factory=dict)  # by key
    busy: set[object] = field(default_factory=set)  # what a call is about to change
    calls: Counter[str] = field(default_factory=Counter)
    writes: int = 0  # acknowledged
    defects: list[str] = field(default_factory=list)  # answers that no caller can act upon

    def forget_gone(self) -> None:
        """Drop the claims of what was deleted and found to be so."""
        self.memories = {key: each for key, each in self.memories.items() if each.sure is not GONE}
        self.threads = {key: each for key, each in self.threads.items() if each.sure is not GONE}
