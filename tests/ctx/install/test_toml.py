"""Editing TOML: a table of ours in and out."""

import tomllib

import pytest

from ctx.install.toml import NotToml, has_table, remove_table, set_table

CONFIG = """# my Codex
model = "o5" # the large one

[mcp_servers.other]
url = "http://127.0.0.1:1/mcp"

[profiles.work]
model = "small"
"""


def test_a_table_goes_in_and_out() -> None:
    values = {"url": "http://127.0.0.1:8002/mcp", "http_headers": {"X-MCP-Readonly": "true"}}
    added = set_table(CONFIG, "mcp_servers", "ctx-memory", values)
    assert added.startswith(CONFIG)
    assert tomllib.loads(added)["mcp_servers"]["ctx-memory"] == values
    assert has_table(added, "mcp_servers", "ctx-memory")
    assert remove_table(added, "mcp_servers", "ctx-memory").strip() == CONFIG.strip()
    replaced = set_table(added, "mcp_servers", "ctx-memory", {"url": "u"})
    assert tomllib.loads(replaced)["mcp_servers"]["ctx-memory"] == {"url": "u"}
    assert set_table("", "mcp_servers", "a b", {"n": 1}) == '[mcp_servers."a b"]\nn = 1\n'


def test_tables_inside_and_between_go_too() -> None:
    text = (
        CONFIG + '\n[mcp_servers.ctx]\nurl = "u"\n\n[mcp_servers.ctx.env]\nA = "b"\n\n[z]\nk = 1\n'
    )
    left = tomllib.loads(remove_table(text, "mcp_servers", "ctx"))
    assert left == tomllib.loads(CONFIG) | {"z": {"k": 1}}
    assert remove_table(CONFIG, "mcp_servers", "oth") == CONFIG


def test_what_is_not_toml_is_refused() -> None:
    for text in ("a = ", "[x\n", "a = 1\na = 2\n"):
        with pytest.raises(NotToml):
            set_table(text, "mcp_servers", "ctx", {})
