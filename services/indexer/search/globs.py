"""Path patterns: `*`, `?`, `**`, `[…]` and `{a,b}`, as in shells and ignore files."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from services.core.errors import InvalidInput

MAX_PATTERN_LENGTH = 500


def match_globs(
    paths: Iterable[str], included: Sequence[str], excluded: Sequence[str]
) -> list[str]:
    """Return the paths that match an included pattern, or all without one, and no excluded one.

    Raises InvalidInput for an invalid pattern.
    """
    include = [compile_glob(pattern) for pattern in included]
    exclude = [compile_glob(pattern) for pattern in excluded]
    return [
        path
        for path in paths
        if (not include or any(p.match(path) for p in include))
        and not any(p.match(path) for p in exclude)
    ]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. One without a slash matches a name at any depth; a folder, all below it.

    Raises InvalidInput for an invalid pattern.
    """
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
