"""The deadline of a call: everything that a decoder writes for it shares the time."""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """Seconds that a call may spend on decoders, counted from when this was made."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The seconds that are left, 0 where there are none."""
        return max(self.started + self.seconds - time.monotonic(), 0.0)
