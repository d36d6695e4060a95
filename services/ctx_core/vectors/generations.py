"""Names of physical collections.

A replacement that is built for the collection NAME is called NAME@GENERATION until it is swapped
in, and then an alias points NAME to it. `check_collection_name` refuses the mark in other names.
"""

import re
from uuid import uuid4

MARK = "@"
GENERATION_DIGITS = 8  # never used twice, so that a cached physical name cannot mean another one
_GENERATION = re.compile(rf".+{MARK}[0-9a-f]{{{GENERATION_DIGITS}}}")


def new_generation(name: str) -> str:
    """Return a new physical collection name, NAME@<8 hex>."""
    return f"{name}{MARK}{uuid4().hex[:GENERATION_DIGITS]}"


def logical_name(physical: str) -> str:
    """Return the collection name that users know."""
    return physical.rpartition(MARK)[0] if _GENERATION.fullmatch(physical) else physical


def is_generation(physical: str, name: str) -> bool:
    """Whether a physical collection was built as a replacement for this name."""
    return physical != name and logical_name(physical) == name
