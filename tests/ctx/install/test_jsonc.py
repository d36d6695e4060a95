"""Editing JSON with comments: the edit is there, and nothing else changed."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.install.jsonc import NotJson, get_member, remove_member, set_member

SETTINGS = """// my settings
{
  "theme": "dark", // not too bright
  /* servers */
  "mcpServers": {
    "other": { "url": "http://127.0.0.1:1/mcp" }, // keep, "quoted": {
  },
  "last": [1, 2, /* three */ 3,],
}
"""
names = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=4)
formats = st.sampled_from([None, 0, 2, 4, "\t"])


def plain(text: str) -> Any:
    """The value without comments and trailing commas; SETTINGS has none inside strings."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", re.sub(r'"http://', '"http:', text))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def test_comments_and_commas_stay() -> None:
    changed = set_member(SETTINGS, ["mcpServers", "ctx"], {"url": "u"})
    assert plain(changed)["mcpServers"]["ctx"] == {"url": "u"}
    for line in SETTINGS.splitlines():
        assert line in changed
    removed = remove_member(changed, ["mcpServers", "ctx"])
    assert removed == SETTINGS.replace('/mcp" },', '/mcp" }')  # the comma before the last goes
    again = set_member(changed, ["mcpServers", "ctx"], {"url": "v"})
    assert plain(again)["mcpServers"]["ctx"] == {"url": "v"}
    assert again.count('"ctx"') == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{\n\t"x": 1\n}\n', '{\n\t"x": 1,\n\t"a": {\n\t  "b": 1\n\t}\n}\n'),
        ("{\n  // empty\n}\n", '{\n  // empty\n  "a": {\n    "b": 1\n  }\n}\n'),
    ],
)
def test_the_manner_of_the_file_is_kept(text: str, expected: str) -> None:
    assert set_member(text, ["a", "b"], 1) == expected


@given(objects, values, names, formats)
def test_a_member_goes_in_and_out(before: Any, value: Any, name: str, indent: Any) -> None:
    text = json.dumps(before, indent=indent)
    added = set_member(text, ["servers", name], value) if "servers" not in before else text
    if "servers" not in before:
        assert json.loads(added) == before | {"servers": {name: value}}
        assert get_member(added, ["servers", name])
        assert json.loads(remove_member(added, ["servers"])) == before


@given(objects, formats)
def test_any_member_can_go(before: Any, indent: Any) -> None:
    text = json.dumps(before, indent=indent)
    for key in before:
        rest = {name: value for name, value in before.items() if name != key}
        assert json.loads(remove_member(text, [key])) == rest
    assert remove_member(text, ["not", "there"]) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a" 1}',
        "{a: 1}",
        "[1",
        '{"a": 1} x',
        "{,}",
        '{"a": 1 "b": 2}',
        "/* no end",
        '{"mcpServers": 3}',
        "[]",
        "nope",
        '{"a": "no end}',
        "[" * 100_000,
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        set_member(text, ["mcpServers", "ctx"], {})
