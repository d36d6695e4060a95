"""Path patterns: `*`, `?`, `**`, `[…]` and `{a,b}`, as people write them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from services.core.errors import InvalidInput

MAX_PATTERN_LENGTH = 500


def matching(paths: Iterable[str], wanted: Sequence[str], unwanted: Sequence[str]) -> list[str]:
    """The paths that match one of the wanted patterns (all, when there is none) and none of the
    unwanted."""
    yes = [compile_glob(pattern) for pattern in wanted]
    no = [compile_glob(pattern) for pattern in unwanted]
    return [
        path
        for path in paths
        if (not yes or any(p.match(path) for p in yes)) and not any(p.match(path) for p in no)
    ]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern without a slash matches a name at any depth, and a folder's name all below it."""
    cleaned = pattern.strip().removeprefix("./")
    if not cleaned or len(cleaned) > MAX_PATTERN_LENGTH:
        raise InvalidInput("path_glob", f"{pattern!r} is not a pattern")
    anywhere = "" if cleaned.startswith("/") or "/" in cleaned.rstrip("/") else "(?:.*/)?"
    body = _translate(cleaned.strip("/"))
    below = "(?:/.*)?" if "*" not in cleaned.rsplit("/", 1)[-1] else ""
    try:
        return re.compile(f"^{anywhere}{body}{below}$", re.DOTALL)
    except re.error as error:
        raise InvalidInput("path_glob", f"{pattern!r}: {error}") from error


_PARTS = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]+\]|\{[^{}]*\}|.", re.DOTALL)
_FIXED = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translate(pattern: str) -> str:
    return "".join(_part(part) for part in _PARTS.findall(pattern))


def _part(part: str) -> str:
    if part in _FIXED:
        return _FIXED[part]
    if part.startswith("[") and part.endswith("]"):
        return "[" + part[1:-1].replace("!", "^", 1 if part[1] == "!" else 0) + "]"
    if part.startswith("{") and part.endswith("}"):
        return "(?:" + "|".join(_translate(option) for option in part[1:-1].split(",")) + ")"
    return re.escape(part)
