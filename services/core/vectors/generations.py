"""What stands behind a collection's name.

A collection that was built behind another's back is called NAME@GENERATION, and takes the name when
it is complete. Nobody else's is called so: `checks.collection_name` refuses the mark.
"""

import re
from uuid import uuid4

MARK = "@"
GENERATION_DIGITS = 8  # a generation is never used twice, so that who knew an old one notices
_BUILT = re.compile(rf".+{MARK}[0-9a-f]{{{GENERATION_DIGITS}}}")


def fresh(name: str) -> str:
    """A generation that never was."""
    return f"{name}{MARK}{uuid4().hex[:GENERATION_DIGITS]}"


def logical(physical: str) -> str:
    """The name that people know."""
    return physical.rpartition(MARK)[0] if _BUILT.fullmatch(physical) else physical


def is_generation(physical: str, name: str) -> bool:
    """Whether this was built to stand behind the name."""
    return physical != name and logical(physical) == name
