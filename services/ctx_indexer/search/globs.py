"""Path patterns of queries: `*`, `?`, `**`, `[…]` and `{a,b}`, as in shells and ignore files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ctx_core.errors import InvalidInput
from ctx_core.globs import ANY_PARTS, InvalidGlob, path_expression

MAX_PATTERN_LENGTH = 500
MAX_ALTERNATIVES = 64  # that braces may stand for
_OF_WINDOWS = re.compile(r"(?<=[\w*])\\(?=\w|\*[.*])")  # parts of a path; else it escapes
_BRACES = re.compile(r"\{([^{}]*)\}")


def match_globs(
    paths: Iterable[str], included: Sequence[str], excluded: Sequence[str], folder: str = ""
) -> list[str]:
    """Return the paths that match an included pattern, or all without one, and no excluded one.

    A pattern may have the folder before a path that callers know it with. Raises InvalidInput for
    an invalid pattern. Blocks, in time linear in the paths.
    """
    include = [compile_glob(pattern) for pattern in included]
    exclude = [compile_glob(pattern) for pattern in excluded]
    return [
        path
        for path in paths
        if (not include or _matches(path, include, folder)) and not _matches(path, exclude, folder)
    ]


def _matches(path: str, patterns: Sequence[re.Pattern[str]], folder: str) -> bool:
    known = f"{folder}/{path}"
    return any(p.match(path) or (folder and p.match(known)) for p in patterns)


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Compile a pattern. One without a slash matches a name at any depth; a folder, all below it.

    Raises InvalidInput for an invalid pattern.
    """
    cleaned = pattern.strip().removeprefix("./").removeprefix(".\\")
    if "/" not in cleaned:
        cleaned = _OF_WINDOWS.sub("/", cleaned)
    if not cleaned.strip("/") or len(cleaned) > MAX_PATTERN_LENGTH:
        raise InvalidInput("path_glob", f"{pattern!r} is not a pattern")
    anywhere = not cleaned.startswith("/") and "/" not in cleaned.rstrip("/")
    below = "(?:/.*)?" if "*" not in cleaned.rsplit("/", 1)[-1] else ""
    try:
        bodies = [_expression(each, anywhere) for each in _alternatives(cleaned.strip("/"))]
        return re.compile(rf"(?:{'|'.join(bodies)}){below}\Z", re.DOTALL)
    except (InvalidGlob, re.error) as error:
        raise InvalidInput("path_glob", f"{pattern!r}: {error}") from error


def _expression(pattern: str, anywhere: bool) -> str:
    """Translate a pattern without braces; `folder/**` matches the folder too."""
    prefix = f"{ANY_PARTS}/" if anywhere else ""
    if pattern.endswith(f"/{ANY_PARTS}"):
        return path_expression(prefix + pattern[: -len(ANY_PARTS) - 1]) + "(?:/.*)?"
    return path_expression(prefix + pattern)


def _alternatives(pattern: str) -> list[str]:
    """Write out braces, and `**` inside a part: `a**b` is `a*b` and `a*/**/*b`."""
    pending, done = [pattern], []
    while pending:
        each = pending.pop()
        options = list(_options(each))
        if options:
            pending += options
        else:
            done.append(each)
        if len(pending) + len(done) > MAX_ALTERNATIVES:
            raise InvalidGlob(f"stands for more than {MAX_ALTERNATIVES} patterns")
    return done


def _options(pattern: str) -> Iterator[str]:
    """Yield the patterns that the first braces or `**` inside a part stand for, if any.

    `{a,b}.py` → `a.py`, `b.py`.
    """
    if braces := _BRACES.search(pattern):
        for option in braces[1].split(","):
            yield pattern[: braces.start()] + option + pattern[braces.end() :]
        return
    parts = pattern.split("/")
    for index, part in enumerate(parts):
        if ANY_PARTS in part and part != ANY_PARTS:
            before, after = part.split(ANY_PARTS, 1)
            for middle in ("*", f"*/{ANY_PARTS}/*"):
                changed = f"{before}{middle}{after}".replace("***", "*")
                yield "/".join([*parts[:index], changed, *parts[index + 1 :]])
            return
