r"""Paths into metadata: `a.b` is the key b inside a, `a.0` the first element of a list a.

A number is a position in a list or a key of an object, whichever the value is. `\.` is a dot
inside a key, `\\` a backslash.
"""

import re

MAX_KEY_LENGTH = 512  # characters; nobody chooses a longer key
MAX_DEPTH = 16  # every step of a path that is not spellable is a join in SQLite
_STEP = re.compile(r"(?:\\[\\.]|[^.])+")
_ESCAPED = re.compile(r"\\([\\.])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
# Keys of these letters need no quoting, so they may be part of the SQL text: an index on an
# expression serves only a query whose text has the same path.
_SPELLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")

Path = tuple[str, ...]


def parse_path(key: str) -> Path:
    """Split a key into steps, the outermost first: `a.b` → `("a", "b")`. Raises ValueError."""
    if not key:
        raise ValueError("must name a metadata field, such as status or references.task")
    if len(key) > MAX_KEY_LENGTH:
        raise ValueError(f"is longer than {MAX_KEY_LENGTH} characters")
    steps = _STEP.findall(key)
    if ".".join(steps) != key:
        raise ValueError(r"has an empty step; write \. for a dot inside a key")
    if len(steps) > MAX_DEPTH:
        raise ValueError(f"is deeper than {MAX_DEPTH} steps")
    return tuple(_ESCAPED.sub(r"\1", step) for step in steps)


def is_index(step: str) -> bool:
    """Whether the step may be a position in a list."""
    return _INDEX.fullmatch(step) is not None


def is_spellable(path: Path) -> bool:
    """Whether the path may be part of SQL text as it is: nothing in it needs escaping."""
    return all(_SPELLABLE.fullmatch(step) for step in path)
