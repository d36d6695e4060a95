"""Edit TOML in place: set or remove one key or table, and keep every other byte.

A text is a run of statements: a header `[a.b]`, an assignment with all of its lines, a comment, an
empty line. An edit replaces, adds or drops whole statements; tomlkit rewrites the one that is
replaced. tomllib reads the text and the result: an edit that changed anything else is refused.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

BOM = "\ufeff"
_SPACE = " \t"
# A text, a comment, a bracket, the end of a line, a sign of assignment, or a run of all else.
_TOKEN = re.compile(
    r"""
    "{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )*+ "{3,5}
    | '{3} (?: [^']++ | '{1,2}(?!') )*+ '{3,5}
    | " (?: [^"\\\n]++ | \\. )*+ "
    | ' [^'\n]*+ '
    | \# [^\n]*+
    | [\[{\]}\n=]
    | [^"'\#\[{\]}\n=]++
    """,
    re.VERBOSE | re.DOTALL,
)
_BARE = re.compile(r"\s*([A-Za-z0-9_-]+)\s*")

Names = tuple[str, ...]


class TomlRefused(ValueError):
    """The text is no TOML, or holds something else under our name; the message says which."""


@dataclass(frozen=True)
class Statement:
    """The lines of one statement: `c.d = 1` below `[a.b]` has the path a, b, c, d."""

    text: str
    section: Names  # of the header above, or of the header that this is
    path: Names | None = None  # None: a comment or an empty line
    is_header: bool = False

    def is_of(self, path: Names) -> bool:
        """Whether this sets something at a path or below it."""
        return self.path is not None and self.path[: len(path)] == path

    def is_inline_above(self, path: Names) -> bool:
        """Whether a path leads into the value: `a = {}` is above a, b."""
        inside = self.path is not None and path[: len(self.path)] == self.path
        return inside and not self.is_header

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def has_key(text: str, path: Names) -> bool:
    """Tell whether a path is set. Raises TomlRefused."""
    return _found(_parsed(text.removeprefix(BOM)), path) is not None


def set_key(text: str, name: str, value: Any) -> str:
    """Set a key outside of all tables: in its place, else above the first line.

    Raises TomlRefused where the name is a table.
    """
    text, bom = text.removeprefix(BOM), text[: text.startswith(BOM)]
    data = _parsed(text)
    if data.get(name) == value:
        return bom + text
    statements = list(_statements(text))
    at = next((i for i, s in enumerate(statements) if s.path == (name,) and not s.is_header), None)
    if isinstance(data.get(name), dict) or (name in data and at is None):
        raise TomlRefused(f"{name} is a table in it")
    if at is not None:
        statements[at] = _assigned(statements[at], (name,), value)
    else:
        statements.insert(0, Statement(_line((name,), value, _newline(text)), ()))
    return bom + _witnessed(statements, data | {name: value}, (name,))


def set_table(text: str, path: Names, values: Mapping[str, Any]) -> str:
    """Give a table these values and no others: in its place, else as `[a.b]` at the end.

    Raises TomlRefused where the path, or a part of it, is no table.
    """
    text, bom = text.removeprefix(BOM), text[: text.startswith(BOM)]
    data = _parsed(text)
    old = _found(data, path)
    if old == values:
        return bom + text
    if old is not None and not isinstance(old, dict):
        raise TomlRefused(f"{'.'.join(path)} is no table in it")
    statements, newline = list(_statements(text)), _newline(text)
    at = next((i for i, s in enumerate(statements) if s.is_inline_above(path)), None)
    if at is not None:
        statements[at] = _assigned(statements[at], path, values)
    elif old is None:
        _append_table(statements, path, values, newline)
    else:
        statements = _updated(statements, path, old, values, newline)
    return bom + _witnessed(statements, _with(data, path, dict(values)), path)


def remove_key(text: str, path: Names) -> str:
    """Remove a key, or a table with the tables inside it and the empty line above it.

    Comments below its last line stay. Raises TomlRefused.
    """
    text, bom = text.removeprefix(BOM), text[: text.startswith(BOM)]
    data = _parsed(text)
    if _found(data, path) is None:
        return bom + text
    statements = _without(list(_statements(text)), path)
    return bom + _witnessed(statements, _with(data, path, None), path)


# --- reading -------------------------------------------------------------------------------


def _parsed(text: str) -> dict[str, Any]:
    """Parse a text; floats stay texts, so that `nan` equals itself. Raises TomlRefused."""
    try:
        return tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise TomlRefused(f"no TOML: {error}") from error


def _document(text: str) -> TOMLDocument:
    """Parse a statement to edit. Raises TomlRefused."""
    try:
        return tomlkit.parse(text)
    except (ValueError, TOMLKitError, RecursionError) as error:
        raise TomlRefused(f"one line is written in a way that ctx cannot read: {error}") from error


def _found(data: Any, path: Names) -> Any:
    """Return the value at a path, None where there is none. Raises TomlRefused."""
    for depth, name in enumerate(path):
        if not isinstance(data, dict):
            raise TomlRefused(f"{'.'.join(path[:depth])} is no table in it")
        if name not in data:
            return None
        data = data[name]
    return data


def _statements(text: str) -> Iterator[Statement]:
    """Split a text that is TOML."""
    section: Names = ()
    start = depth = 0
    equals: int | None = None  # where the key ends
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        elif first == "=" and equals is None:
            equals = token.start()
        elif first == "\n" and depth == 0:
            statement = _statement(text[start : token.end()], equals, start, section)
            section = statement.section
            start, equals = token.end(), None
            yield statement
    if start < len(text):
        yield _statement(text[start:], equals, start, section)


def _statement(text: str, equals: int | None, start: int, section: Names) -> Statement:
    """Return the statement of these lines, whose key ends at `equals` of the whole text."""
    head = text.lstrip()
    if head.startswith("["):
        path = _header(head)
        return Statement(text, path, path, is_header=True)
    if equals is None:
        return Statement(text, section)
    return Statement(text, section, section + _names(text[: equals - start]))


def _header(text: str) -> Names:
    """Return the names of a header: `[ a."b.c" ] # d → a, b.c`."""
    inside: Any = tomllib.loads(text)
    names: list[str] = []
    while inside:
        if isinstance(inside, list):
            inside = inside[0]
        else:
            ((name, inside),) = inside.items()
            names.append(name)
    return tuple(names)


def _names(key: str) -> Names:
    """Return the names of a dotted key: `a."b.c" → a, b.c`."""
    if bare := _BARE.fullmatch(key):
        return (bare[1],)
    return _header(f"[{key.strip()}]")


def _newline(text: str) -> str:
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


# --- writing -------------------------------------------------------------------------------


def _item(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    for name, inside in value.items():
        table[name] = _item(inside)
    return table


def _line(names: Sequence[str], value: Any, newline: str) -> str:
    return f"{tomlkit.key(names).as_string()} = {_item(value).as_string()}{newline}"


def _assigned(statement: Statement, path: Names, value: Any) -> Statement:
    """Set a path in an assignment, or in the inline table that it assigns."""
    document = _document(statement.text)
    container: Any = document
    *above, last = names = path[len(statement.section) :]
    for name in above:
        container = container[name]
    old = container.get(last)
    if old is None:
        return _inserted(statement, names, value)
    if isinstance(old, InlineTable) and isinstance(value, Mapping):
        for name in [name for name in old if name not in value]:
            del old[name]
        for name in [name for name in value if old.get(name) != value[name]]:
            old[name] = _item(value[name])
    else:
        container[last] = _item(value)
    return replace(statement, text=document.as_string())


def _inserted(statement: Statement, names: Names, value: Any) -> Statement:
    """Add a key at the end of the inline table above it: `{a = 1 }` → `{a = 1, b = 2 }`."""
    text = statement.text
    _, end = _span(text, names[:-1])
    head = text[: end - 1].rstrip(" \t")
    comma = "" if head.endswith("{") else ", "
    added = _line(names[-1:], value, "")
    return replace(statement, text=f"{head}{comma}{added}{text[len(head) :]}")


def _cut(statement: Statement, path: Names) -> Statement:
    """Take a key out of an inline table: `{a = 1 , b = 2}` without b → `{a = 1}`."""
    text = statement.text
    names = path[len(statement.section) :]
    value, end = _span(text, names)
    head = _without_key(text[:value], names[-1])
    if head is None:
        raise TomlRefused(f"{'.'.join(path)} is written in a way that ctx cannot change")
    before, rest = head.rstrip(_SPACE), text[end:]
    after = rest.lstrip(_SPACE)
    if before.endswith(","):
        head = before[:-1].rstrip(_SPACE)
    elif after.startswith(","):
        rest = after[1:].lstrip(_SPACE)
    return replace(statement, text=head + rest)


def _without_key(text: str, name: str) -> str | None:
    """Return a text without the key that ends it: `{a = 1, b = ` → `{a = 1, `; None without one."""
    key = text.rstrip(_SPACE).removesuffix("=").rstrip(_SPACE)
    written = (name, f'"{name}"', f"'{name}'", tomlkit.key(name).as_string())
    found = [each for each in written if key.endswith(each)]
    return key.removesuffix(max(found, key=len)) if found else None


def _span(text: str, names: Names) -> tuple[int, int]:
    """Return where a value begins and ends: tomlkit puts a mark in its place."""
    mark = f'"{uuid4().hex}"'
    document = _document(text)
    container: Any = document
    for name in names[:-1]:
        container = container[name]
    container[names[-1]] = mark[1:-1]
    before, _, after = document.as_string().partition(mark)
    if not (text.startswith(before) and text.endswith(after)):
        raise TomlRefused(f"{'.'.join(names)} is written in a way that ctx cannot change")
    return len(before), len(text) - len(after)


def _append_table(
    statements: list[Statement], path: Names, values: Mapping[str, Any], newline: str
) -> None:
    """Add `[a.b]` below an empty line; a text without a final line break is left without one."""
    header = f"[{tomlkit.key(path).as_string()}]{newline}"
    lines = header + "".join(_line((name,), value, newline) for name, value in values.items())
    if statements and not statements[-1].text.endswith("\n"):
        lines = newline * 2 + lines.removesuffix(newline)
    elif statements:
        lines = newline + lines
    statements.append(Statement(lines, path, path))


def _without(statements: list[Statement], path: Names) -> list[Statement]:
    """Drop the statements of a path, and the comments between those of one table."""
    kept: list[Statement] = []
    between: list[Statement] = []  # comments that go if more of the table follows
    in_table = False
    for each in statements:
        if each.is_of(path):
            if each.is_header and not in_table and kept and kept[-1].is_blank:
                kept.pop()
            between, in_table = [], each.section[: len(path)] == path
        elif in_table and each.path is None:
            between.append(each)
        else:
            kept += [*between, _cut(each, path) if each.is_inline_above(path) else each]
            between, in_table = [], False
    kept += between
    last = statements[-1]
    if kept and last.is_of(path) and not last.text.endswith("\n"):
        end = kept[-1].text.removesuffix("\n").removesuffix("\r")
        kept[-1] = replace(kept[-1], text=end)
    return kept


def _updated(
    statements: list[Statement],
    path: Names,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    newline: str,
) -> list[Statement]:
    """Change a table whose keys are statements: `[a.b]` with lines below, or `a.b.c = 1`."""
    missing = {name: value for name, value in new.items() if old.get(name) != value}
    for name in [name for name in old if name not in new or name in missing]:
        inside = (*path, name)
        at = next((i for i, s in enumerate(statements) if s.path == inside), None)
        if at is not None and name in missing and not statements[at].is_header:
            statements[at] = _assigned(statements[at], inside, missing.pop(name))
        else:
            statements = _without(statements, inside)
    if not missing:
        return statements
    own = [
        i for i, s in enumerate(statements) if s.is_of(path) and s.section == path[: len(s.section)]
    ]
    if own:
        _insert(statements, own[-1], path, missing, newline)
    else:
        _append_table(statements, path, missing, newline)
    return statements


def _insert(
    statements: list[Statement], at: int, path: Names, values: Mapping[str, Any], newline: str
) -> None:
    """Add lines below one, with the path that its section leaves to say."""
    above = statements[at]
    inside = path[len(above.section) :]
    lines = "".join(_line((*inside, name), value, newline) for name, value in values.items())
    if not above.text.endswith("\n"):
        lines = newline + lines.removesuffix(newline)
    statements.insert(at + 1, Statement(lines, above.section, path))


def _with(data: Mapping[str, Any], path: Names, value: Any) -> dict[str, Any]:
    """Return data with another value at a path; without the path for None."""
    name, *below = path
    inside = _with(data.get(name, {}), tuple(below), value) if below else value
    kept = {each: data[each] for each in data if each != name}
    return kept if inside is None else {**kept, name: inside}


def _witnessed(statements: Sequence[Statement], expected: Mapping[str, Any], path: Names) -> str:
    """Return the text, after tomllib read the expected data from it. Raises TomlRefused."""
    text = "".join(each.text for each in statements)
    if _pruned(_parsed(text), path) != _pruned(expected, path):
        raise TomlRefused(f"{'.'.join(path)} is written in a way that ctx cannot change")
    return text


def _pruned(data: Mapping[str, Any], path: Names) -> dict[str, Any]:
    """Return data without the tables above a path that hold nothing."""
    name, *below = path
    if not below or name not in data:
        return dict(data)
    inside = _pruned(data[name], tuple(below))
    kept = {each: data[each] for each in data if each != name}
    return {**kept, name: inside} if inside else kept
