"""Patterns of an exact search: plain strings, and expressions that match in linear time."""

from collections.abc import Iterator
from typing import Any

import re2

from ctx_core.errors import InvalidInput

MAX_PATTERN_LENGTH = 1_000
MAX_PROGRAM_BYTES = 8 * 1024 * 1024  # compiled; `x{1000}{1000}` takes more and is refused
_FIRST_NON_ASCII = 0x80
_WORD = r"\pL\pM\pN_"
MAX_CLASS_NAME = 16  # characters of `[:alpha:]` and the like


class Pattern:
    """Finds a string or a regular expression in the lines of UTF-8 texts.

    Expressions have RE2's syntax: no back references and no look-around, so that no pattern takes
    more than linear time. A match never spans lines.
    """

    def __init__(
        self, text: str, *, regex: bool = False, case_sensitive: bool = True, word: bool = False
    ) -> None:
        """Raises InvalidInput for an empty, overlong or invalid pattern."""
        if not text or len(text) > MAX_PATTERN_LENGTH:
            raise InvalidInput("pattern", f"must have 1 to {MAX_PATTERN_LENGTH} characters")
        if "\n" in text or "\0" in text:
            raise InvalidInput("pattern", "must be one line: lines are matched one by one")
        plain = case_sensitive and not regex
        self._literal = text.encode("utf-8", "replace") if plain else None
        self._word = word
        self._expression = _compile(text, regex, case_sensitive, word)

    def line_matches(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where each matching line starts, and where the first match in it starts."""
        at = 0
        while (match := self._next(data, at)) is not None:
            yield data.rfind(b"\n", 0, match) + 1, match
            end = data.find(b"\n", match)
            if end < 0:
                return
            at = end + 1

    def _next(self, data: bytes, at: int) -> int | None:
        if self._literal is None:
            found = self._expression.search(data, at)
            return None if found is None or found.start() >= len(data) else int(found.start())
        while (at := data.find(self._literal, at)) >= 0:
            if not self._word or _is_whole_word(data, at, at + len(self._literal)):
                return at
            at += 1
        return None


def _is_whole_word(data: bytes, start: int, end: int) -> bool:
    """Whether a match is no part of a longer identifier: `add` of `x.add`, and not of `added`."""
    joined_before = start > 0 and _in_word(data[start - 1]) and _in_word(data[start])
    joined_after = end < len(data) and _in_word(data[end - 1]) and _in_word(data[end])
    return not (joined_before or joined_after)


def _in_word(byte: int) -> bool:
    return byte >= _FIRST_NON_ASCII or chr(byte).isalnum() or byte == ord("_")


def _unicode(expression: str) -> str:
    r"""Return an expression whose `\w` has the letters and digits of every script."""
    parts: list[str] = []
    in_class = False
    at = 0
    while at < len(expression):
        part = _next_part(expression, at, in_class)
        at += len(part)
        if part in (r"\w", r"\W") and not (in_class and part == r"\W"):
            word = _WORD if in_class else f"[{_WORD}]"
            part = word if part == r"\w" else f"[^{_WORD}]"
        elif part[0] == "[" and not in_class:
            in_class = True
        elif part == "]":
            in_class = False
        parts.append(part)
    return "".join(parts)


def _next_part(expression: str, at: int, in_class: bool) -> str:
    r"""Return a character with its escape, `[^]`, `[:name:]`, or text between `\Q` and `\E`."""
    first, two = expression[at], expression[at : at + 2]
    if two == r"\Q":
        end = expression.find(r"\E", at)
        return expression[at : end + 2] if end >= 0 else expression[at:]
    if first == "\\":
        return two
    if first != "[":
        return first
    if in_class:
        end = expression.find(":]", at, at + MAX_CLASS_NAME) if two == "[:" else -1
        return expression[at : end + 2] if end >= 0 else first
    start = "[^" if two == "[^" else "["
    return start + "]" if expression.startswith("]", at + len(start)) else start


def _compile(text: str, regex: bool, case_sensitive: bool, word: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.max_mem = MAX_PROGRAM_BYTES
    options.never_nl = True
    source = _unicode(text) if regex else re2.escape(text)
    if word:
        source = rf"\b(?:{source})\b"
    try:
        return re2.compile(f"(?m:{source})", options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise InvalidInput(
            "pattern",
            f"is no expression that RE2 takes ({reason}): it has no look-around and no back "
            "references. Without regex=true the pattern is a plain string.",
        ) from error
