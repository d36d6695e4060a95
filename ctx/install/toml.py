"""Edit TOML by its text: a table of ours is added, replaced or taken out, all else stays."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


class NotToml(ValueError):
    """A text that is not TOML; the message says where."""


def set_table(text: str, table: str, name: str, values: Mapping[str, Any]) -> str:
    """Return the text with `[table.NAME]` at its end, or in place of the one that is there."""
    kept = remove_table(text, table, name)
    lines = [f"[{table}.{_key(name)}]", *(f"{key} = {_value(v)}" for key, v in values.items())]
    between = "" if not kept.strip() else "\n" if kept.endswith("\n") else "\n\n"
    return _checked(kept + between + "\n".join(lines) + "\n")


def remove_table(text: str, table: str, name: str) -> str:
    """Return the text without `[table.NAME]` and the tables inside it; unchanged without one."""
    _checked(text)
    header = re.compile(
        rf"^[ \t]*\[{re.escape(table)}\.(?:{re.escape(name)}|\"{re.escape(name)}\")[.\]]",
        re.MULTILINE,
    )
    while found := header.search(text):
        following = _HEADER.search(text, found.end())
        end = following.start() if following else len(text)
        before = text[: found.start()]
        text = (before.rstrip("\n") + "\n" if before.strip() else "") + text[end:]
    return _checked(text)


def has_table(text: str, table: str, name: str) -> bool:
    """Tell whether there is a table of this name. Raises NotToml."""
    return name in (_parse(text).get(table) or {})


def _checked(text: str) -> str:
    _parse(text)
    return text


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _value(value: Any) -> str:
    """Format a value: JSON's strings, numbers and lists are TOML's too."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    return json.dumps(value, ensure_ascii=False)
