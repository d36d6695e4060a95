"""The complexity of code, in a word, by the lines that branch."""

import re

MEDIUM_BRANCHES, HIGH_BRANCHES = 3, 10
_BRANCH = re.compile(
    r"^[^\S\n]*+(?:\}[^\S\n]*+)?(?:if|for|while|case|catch|except|elif|match|switch|when)\b",
    re.MULTILINE,
)


def complexity(text: str) -> str:
    """Return `low`, `medium` or `high`."""
    branches = len(_BRANCH.findall(text))
    if branches >= HIGH_BRANCHES:
        return "high"
    return "medium" if branches >= MEDIUM_BRANCHES else "low"
