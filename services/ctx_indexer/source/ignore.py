"""Excluded paths: `.gitignore` and `.ctxignore` rules, and folders of tools."""

import logging
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from ctx_core.globs import ANY_PARTS, InvalidGlob, path_expression

log = logging.getLogger(__name__)

CTXIGNORE = ".ctxignore"
GITIGNORE = ".gitignore"
MAX_IGNORE_BYTES = 131_072  # of an ignore file: a larger one is no list that a person wrote
MAX_PATTERNS = 2_000  # of an ignore file: each takes 50 ns a path
MAX_PATTERN_LENGTH = 1_000

# Folders that tools put beside the code: excluded unless git tracks their files.
TOOL_FOLDERS = frozenset(
    (
        ".git .hg .svn .jj .bzr node_modules bower_components .venv venv .virtualenv __pycache__ "
        ".mypy_cache .pytest_cache .ruff_cache .hypothesis .tox .nox .eggs .ipynb_checkpoints "
        ".gradle .idea .vs .terraform .next .nuxt .svelte-kit .parcel-cache .turbo .cache "
        ".dart_tool .bundle .stack-work .cabal-sandbox .elixir_ls .serverless .aws-sam .DS_Store "
        "site-packages DerivedData __MACOSX"
    ).split()
)
# A folder that holds one of these files belongs to a tool, whatever its name.
TOOL_FOLDER_MARKERS = frozenset(["pyvenv.cfg", "CACHEDIR.TAG"])


def in_tool_folder(path: str) -> bool:
    """Whether a file lies in a folder that is excluded by default."""
    return not TOOL_FOLDERS.isdisjoint(path.split("/")[:-1])


class IgnoreRules:
    """The patterns of ignore files: each file rules its folder, and the deepest match wins."""

    def __init__(self) -> None:
        self._groups: dict[str, list[_Group]] = {}  # folder ("" or "a/b/") → groups, last first

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add_file(self, folder: str, lines: Iterable[str]) -> None:
        """Add the patterns of one file; they win over those of earlier files of its folder.

        Those beyond MAX_PATTERNS are left out, with a warning.
        """
        rules = [rule for line in lines if (rule := _parse(line)) is not None]
        if len(rules) > MAX_PATTERNS:
            log.warning(
                "an ignore file of %r has %d patterns; only the first %d are used",
                folder,
                len(rules),
                MAX_PATTERNS,
            )
        if rules:
            earlier = self._groups.get(folder, [])
            self._groups[folder] = [*_groups(rules[:MAX_PATTERNS]), *earlier]

    def excludes(self, path: str) -> bool:
        """Whether a path itself is excluded; the path of a folder ends with a slash."""
        end = len(path.rstrip("/"))
        while end >= 0:
            end = path.rfind("/", 0, end)
            folder = path[: end + 1]
            for group in self._groups.get(folder, ()):
                if group.expression.match(path, end + 1):
                    return group.excludes
        return False


class _Rule(NamedTuple):
    expression: str
    excludes: bool


class _Group(NamedTuple):
    """Neighbouring patterns of an ignore file that all exclude, or all include again."""

    expression: re.Pattern[str]
    excludes: bool


def _parse(line: str) -> _Rule | None:
    """Parse a line as git does; None for a comment, a blank line or an invalid pattern."""
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith("#") or len(pattern) > MAX_PATTERN_LENGTH:
        return None
    excludes = not pattern.startswith("!")
    pattern = pattern if excludes else pattern[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    backslashes = len(pattern) - len(pattern.rstrip("\\"))
    if not pattern or backslashes % 2:
        return None
    if "/" not in pattern:
        pattern = f"{ANY_PARTS}/{pattern}"
    try:
        expression = path_expression(pattern.removeprefix("/"))
        re.compile(expression)
    except (InvalidGlob, re.error):
        return None
    return _Rule(expression + ("/" if only_folders else "/?"), excludes)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    escaped = stripped.endswith("\\") and len(stripped) < len(line)
    return f"{stripped} " if escaped else stripped


def _groups(rules: Sequence[_Rule]) -> list[_Group]:
    """Join neighbours of one sign into one expression; the last rule that matches decides."""
    found = []
    for excludes, neighbours in groupby(reversed(rules), key=lambda rule: rule.excludes):
        bodies = "|".join(rule.expression for rule in neighbours)
        found.append(_Group(re.compile(rf"(?:{bodies})\Z", re.DOTALL), excludes))
    return found
