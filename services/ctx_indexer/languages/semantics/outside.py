"""Names from outside of the repository that may stand for anything it defines.

The names are those of Python's library; in other languages few names agree with them.
"""

import re

NONE = "builtins.None"
_TYPING = ("typing.", "typing_extensions.")
# Functions that may give a definition of the repository: one that was put in, or found by a name.
_ANYTHING = re.compile(
    r"(builtins\.(getattr|next|max|min|list|tuple|set|frozenset|dict|sorted|reversed|iter|filter"
    r"|map|zip|enumerate|type|vars|sum)"
    r"|builtins(\.\w+\(\))*\.(get|pop|setdefault|values|items|copy|popitem|__getitem__)"
    r"|typing\.(cast|TypeVar)|importlib\.import_module|sys\.modules\.(get|__getitem__)|copy\.\w+|functools\.\w+|collections\.\w+|weakref\.\w+)"
    r"(\(\))?(\.\w+(\(\))?)*\Z"
)


def is_open(name: str) -> bool:
    """Whether a value from outside is set elsewhere, or of any type: `x = None`, `typing.Any`."""
    return name == NONE or name.startswith(_TYPING)


def gives_anything(name: str) -> bool:
    """Whether a call of a name from outside may give a definition: `getattr(a, "run")` → `run`."""
    return _ANYTHING.match(name) is not None
