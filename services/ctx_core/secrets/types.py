"""A secret that was found in a text."""

from typing import NamedTuple


class Secret(NamedTuple):
    """Where a secret stands in a text, both as character offsets, and of which kind it is."""

    start: int
    end: int
    kind: str
