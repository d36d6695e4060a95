"""Context ids that are refused by pattern."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from ctx_core.errors import RequestInvalid


class IgnorePatterns:
    """Patterns such as `node_modules` or `*.log`, for a whole id or one of its path parts."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = patterns

    def check(self, context_id: str) -> None:
        """Raise RequestInvalid, which names the pattern, where an id is refused."""
        parts = [context_id, *context_id.replace("\\", "/").split("/")]
        for pattern in self._patterns:
            if any(fnmatchcase(part, pattern.rstrip("/")) for part in parts):
                raise RequestInvalid(
                    f'Context ID "{context_id}" matches ignore pattern "{pattern}"',
                    contextId=context_id,
                    pattern=pattern,
                )
