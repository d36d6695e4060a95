"""Edit JSON as people keep it, with comments and trailing commas: the rest stays as it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

INDENT = "  "
MAX_DEPTH = 64  # of nested values; a settings file has a handful
SPACE = " \t\r\n\ufeff"
SCALAR_END = SPACE + ",]}/"


class NotJson(ValueError):
    """A text that is not JSON, with or without comments; the message says where."""


@dataclass(frozen=True)
class Member:
    """A member of an object: where its key begins, and its value."""

    key: str
    start: int
    value: "Value"


@dataclass(frozen=True)
class Value:
    """A value: where it stands, and the members of an object."""

    start: int
    end: int
    members: Sequence[Member] | None = None  # None of anything but an object
    last_comma: int | None = None  # after the last member, where there is one

    def member(self, key: str) -> Member | None:
        """Return the last member of this key, which is the one that counts."""
        return next((m for m in reversed(self.members or ()) if m.key == key), None)


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at a path of keys; objects on the way are made.

    Raises NotJson, also where something that is no object stands on the way.
    """
    text = text if text.strip(SPACE) else "{}\n"
    at = _Parser(text).document()
    for depth, key in enumerate(path):
        if at.members is None:
            raise NotJson(f"{'.'.join(path[:depth]) or 'the file'} holds no object")
        found = at.member(key)
        rest = path[depth + 1 :]
        if found is None:
            return _insert(text, at, key, _nested(rest, value))
        if not rest:
            indent = _indent_of(text, found.start)
            return text[: found.value.start] + _dump(value, indent) + text[found.value.end :]
        at = found.value
    raise NotJson("an empty path")


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path; unchanged where there is none."""
    at: Value = _Parser(text).document() if text.strip(SPACE) else Value(0, 0)
    for key in path[:-1]:
        found = at.member(key)
        if found is None:
            return text
        at = found.value
    found = at.member(path[-1])
    if found is None or at.members is None:
        return text
    return _cut(text, at, list(at.members).index(found))


def get_member(text: str, path: Sequence[str]) -> bool:
    """Tell whether there is a member at a path. Raises NotJson."""
    at: Value | None = _Parser(text).document() if text.strip(SPACE) else None
    for key in path:
        found = None if at is None else at.member(key)
        if found is None:
            return False
        at = found.value
    return True


# --- editing -------------------------------------------------------------------------------


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _dump(value: Any, indent: str) -> str:
    lines = json.dumps(value, indent=INDENT, ensure_ascii=False).split("\n")
    return "\n".join([lines[0], *(indent + line for line in lines[1:])])


def _insert(text: str, at: Value, key: str, value: Any) -> str:
    """Add a member at the end of an object, in the manner of those before it."""
    name = json.dumps(key, ensure_ascii=False)
    if not at.members:
        outer = _indent_of(text, at.start)
        inner = outer + INDENT
        inside = text[at.start + 1 : at.end - 1].strip(SPACE)  # comments alone
        kept = f"\n{inner}{inside}" if inside else ""
        body = f"{{{kept}\n{inner}{name}: {_dump(value, inner)}\n{outer}}}"
        return text[: at.start] + body + text[at.end :]
    last = at.members[-1]
    if "\n" not in text[at.start : at.members[0].start]:
        inline = json.dumps(value, ensure_ascii=False)
        return f"{text[: last.value.end]}, {name}: {inline}{text[last.value.end :]}"
    if at.last_comma is None:
        text = f"{text[: last.value.end]},{text[last.value.end :]}"
        comma = last.value.end
    else:
        comma = at.last_comma
    end = _end_of_line(text, comma + 1)
    indent = _indent_of(text, last.start)
    return f"{text[:end]}\n{indent}{name}: {_dump(value, indent)}{text[end:]}"


def _end_of_line(text: str, position: int) -> int:
    """Return where a comment behind a position ends its line, else the position."""
    rest = text[position:].partition("\n")[0]
    blank = rest.strip(SPACE)
    is_comment = blank.startswith("//") or (blank.startswith("/*") and blank.endswith("*/"))
    return position + len(rest.rstrip("\r")) if is_comment else position


def _cut(text: str, at: Value, index: int) -> str:
    """Take a member out, with the comma that goes with it; comments beside it stay."""
    assert at.members is not None
    member = at.members[index]
    start = member.start
    line = text.rfind("\n", 0, start)
    if line >= at.start and not text[line + 1 : start].strip(" \t"):
        start = line  # it begins a line: that line goes
    end = member.value.end
    comma = _comma_after(text, end)
    if comma is not None:
        return text[:start] + text[comma + 1 :]
    if index == 0:
        return text[:start] + text[end:]
    before = _comma_after(text, at.members[index - 1].value.end)
    assert before is not None
    return text[:before] + text[before + 1 : start] + text[end:]


def _comma_after(text: str, end: int) -> int | None:
    at = _Parser(text, end).skip()
    return at if text[at : at + 1] == "," else None


def _indent_of(text: str, position: int) -> str:
    """Return the blanks that begin the line of a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


# --- reading -------------------------------------------------------------------------------


@dataclass
class _Parser:
    """Reads values from a text, one after the other."""

    text: str
    at: int = 0
    depth: int = field(default=0)

    def document(self) -> Value:
        self.skip()
        value = self._value()
        if self.skip() < len(self.text):
            raise self._error("something follows the end")
        return value

    def skip(self) -> int:
        """Skip blanks and comments; return where the next thing stands."""
        text = self.text
        while self.at < len(text):
            if text[self.at] in SPACE:
                self.at += 1
            elif text.startswith("//", self.at):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                if end < 0:
                    raise self._error("a comment has no end")
                self.at = end + 2
            else:
                break
        return self.at

    def _value(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error("values are nested too deeply")
        start = self.at
        first = self.text[start : start + 1]
        members: list[Member] | None = None
        comma: int | None = None
        if first == "{":
            members, comma = self._object()
        elif first == "[":
            self._array()
        else:
            self._scalar(first)
        self.depth -= 1
        return Value(start, self.at, members, comma)

    def _object(self) -> tuple[list[Member], int | None]:
        members: list[Member] = []
        self.at += 1
        comma: int | None = None
        while self.text[self.skip() : self.at + 1] != "}":
            if members and comma is None:
                raise self._error("a comma is missing")
            start = self.at
            if self.text[start : start + 1] != '"':
                raise self._error("a key is missing")
            self._scalar('"')
            key = json.loads(self.text[start : self.at], strict=False)
            if self.text[self.skip() : self.at + 1] != ":":
                raise self._error("a colon is missing")
            self.at += 1
            self.skip()
            members.append(Member(key, start, self._value()))
            comma = self._comma()
        self.at += 1
        return members, comma

    def _array(self) -> None:
        self.at += 1
        is_first, comma = True, None
        while self.text[self.skip() : self.at + 1] != "]":
            if not is_first and comma is None:
                raise self._error("a comma is missing")
            self._value()
            is_first, comma = False, self._comma()
        self.at += 1

    def _comma(self) -> int | None:
        if self.text[self.skip() : self.at + 1] != ",":
            return None
        self.at += 1
        return self.at - 1

    def _scalar(self, first: str) -> None:
        start = self.at
        try:
            if first == '"':
                _, self.at = json.JSONDecoder(strict=False).raw_decode(self.text, start)
                return
            while self.at < len(self.text) and self.text[self.at] not in SCALAR_END:
                self.at += 1
            json.loads(self.text[start : self.at])
        except ValueError as error:
            raise self._error("a value is missing") from error

    def _error(self, reason: str) -> NotJson:
        line = self.text.count("\n", 0, self.at) + 1
        return NotJson(f"line {line}: {reason}")
