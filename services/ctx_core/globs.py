"""Path patterns as regular expressions that take time linear in a path, whatever the pattern.

`*`, `?` and `[…]` match within one part of a path; a part `**` stands for any number of parts.
Of the text between two wildcards (`ab` in `*ab*`) the leftmost match is as good as any other; an
atomic group takes it and never tries again.
"""

import re

ANY_PARTS = "**"
# A class has at most 255 items, so that one without an end costs no look at the whole pattern.
_TOKEN = re.compile(r"\\.|\*+|\?|\[[!^]?\]?(?:\[:[a-z]{1,8}:\]|[^\]]){0,255}+\]|.", re.DOTALL)
_CLASSES = {
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:alnum:]": "a-zA-Z0-9",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:space:]": r"\s",
    "[:xdigit:]": "0-9a-fA-F",
}


class InvalidGlob(ValueError):
    """A pattern that matches nothing: an unclosed class, or a range from high to low."""


def path_expression(pattern: str) -> str:
    """Translate a pattern for a whole path, without anchors. Raises InvalidGlob."""
    groups: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if part == ANY_PARTS:
            groups.append([])
        else:
            groups[-1].append(part_expression(part))
    first, *others = ["/".join(group) for group in groups]
    if not others:
        return first
    *middle, last = others
    found = [f"{first}/"] if first else []
    found += [f"(?>(?:[^/]+/)*?{group}/)" for group in middle if group]
    found.append(f"(?:[^/]+/)*{last}" if last else ".+")
    return "".join(found)


def part_expression(part: str) -> str:
    """Translate the pattern of one part of a path. Raises InvalidGlob."""
    pieces = [""]
    for found in _TOKEN.finditer(part):
        token = found.group()
        if token[0] == "*":
            pieces.append("")
        else:
            pieces[-1] += _character(token)
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    inner = "".join(f"(?>[^/]*?{piece})" for piece in middle if piece)
    return f"{first}{inner}[^/]*{last}" if last else f"{first}{inner}[^/]*"


def _character(token: str) -> str:
    """Translate a part that matches exactly one character: `?` → `[^/]`, `a` → `a`."""
    if token == "?":
        return "[^/]"
    if token[0] == "\\" and len(token) > 1:
        return re.escape(token[1])
    if token[0] == "[":
        return _class(token)
    return re.escape(token)


def _class(token: str) -> str:
    """Translate `[a-z]`, `[!a-z]` and `[[:alpha:]]`; none of them matches a slash."""
    if len(token) < 3:
        raise InvalidGlob(f"{token!r} has no end")
    negated = token[1] in "!^"
    inner = token[2 if negated else 1 : -1]
    items = "".join(_CLASSES.get(item, _escaped(item)) for item in _CLASS_ITEM.findall(inner))
    expression = f"(?!/)[{'^' if negated else ''}{items}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise InvalidGlob(f"{token!r}: {error}") from error
    return expression


_CLASS_ITEM = re.compile(r"\[:[a-z]+:\]|\\.|.", re.DOTALL)


def _escaped(item: str) -> str:
    """Escape a character of a class, but the sign of a range."""
    if item == "-":
        return item
    return re.escape(item[-1])
