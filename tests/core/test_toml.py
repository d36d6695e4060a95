"""Editing TOML: one key or table in and out, every other byte as it was."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_core.toml import TomlRefused, has_key, remove_key, set_key, set_table

CTX = ("mcp_servers", "ctx")
VALUES = {"url": "http://127.0.0.1:8010/mcp", "http_headers": {"X-MCP-Readonly": "true"}}
CONFIG = """# my Codex
model = "o5" # the large one

[mcp_servers.other]
url = "http://127.0.0.1:1/mcp"

[profiles.work]
model = "small"
"""


def test_a_table_goes_in_and_out() -> None:
    path = ("mcp_servers", "ctx-memory")
    added = set_table(CONFIG, path, VALUES)
    assert added.startswith(CONFIG)
    assert tomllib.loads(added)["mcp_servers"]["ctx-memory"] == VALUES
    assert has_key(added, path)
    assert remove_key(added, path) == CONFIG
    replaced = set_table(added, path, {"url": "u"})
    assert tomllib.loads(replaced)["mcp_servers"]["ctx-memory"] == {"url": "u"}
    assert set_table("", ("mcp_servers", "a b"), {"n": 1}) == '[mcp_servers."a b"]\nn = 1\n'


def test_tables_inside_and_between_go_too() -> None:
    text = (
        CONFIG + '\n[mcp_servers.ctx]\nurl = "u"\n\n[mcp_servers.ctx.env]\nA = "b"\n\n[z]\nk = 1\n'
    )
    assert remove_key(text, CTX) == CONFIG + "\n[z]\nk = 1\n"
    assert remove_key(CONFIG, ("mcp_servers", "oth")) == CONFIG


def test_comments_beside_a_table_stay_and_those_inside_its_lines_go() -> None:
    before = "# of ours\n"
    ours = '[ mcp_servers . "ctx" ] # head\nurl = "[x]"\n# inside\ntext = """\n[a]\n"""\n'
    after = "\n# of z\n[z]\nk = 1"
    assert remove_key(before + ours + after, CTX) == before + after


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (
            '[mcp_servers.ctx] # a\n# b\nurl = "u" # c\nn = 1\n# d\n',
            '[mcp_servers.ctx] # a\n# b\nurl = "v" # c\nm = true\n# d\n',
        ),
        (
            "[mcp_servers]\nctx.url = 'u' # c\nctx.n = 1\n",
            '[mcp_servers]\nctx.url = "v" # c\nctx.m = true\n',
        ),
        ("mcp_servers.ctx.url = 'u'", 'mcp_servers.ctx.url = "v"\nmcp_servers.ctx.m = true'),
        (
            "[mcp_servers]\r\nctx = {url='u', n=1} # c\r\n",
            '[mcp_servers]\r\nctx = {url="v", m = true} # c\r\n',
        ),
        ("mcp_servers = { a = {}, ctx = { url = 'u' } }\n", None),
        ("[mcp_servers.ctx.n]\nx = 1\n[z]\n", None),
        ("[mcp_servers.ctx.n]\nx = 1\n[z]\n[mcp_servers.ctx]\nurl='u'", None),
        ("[mcp_servers.ctx]\nurl.x = 1\n[[mcp_servers.ctx.n]]\n", None),
    ],
)
def test_a_table_is_changed_where_it_is(text: str, changed: str | None) -> None:
    found = set_table(text, CTX, {"url": "v", "m": True})
    assert changed in (None, found)
    assert tomllib.loads(found)["mcp_servers"]["ctx"] == {"url": "v", "m": True}
    assert set_table(found, CTX, {"m": True, "url": "v"}) == found


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", 'A = "new"\n'),
        ("# top\n[t]\nA = 1", 'A = "new"\n# top\n[t]\nA = 1'),
        ("\ufeffb = 1\r\n", '\ufeffA = "new"\r\nb = 1\r\n'),
        ("b = 1\nA = [ # why\n  'x',\n  ']',\n] # c\nc = 2", 'b = 1\nA = "new" # c\nc = 2'),
        ("'A' = '''\nA = 1\n'''\nb = nan\n", "'A' = \"new\"\nb = nan\n"),
    ],
)
def test_a_key_is_set_where_it_is_or_at_the_top(text: str, changed: str) -> None:
    assert set_key(text, "A", "new") == changed


@pytest.mark.parametrize(
    "text", ["a = ", "[x\n", "a = 1\na = 2\n", "a = 1\rb = 2", "a = " + "[" * 5000]
)
def test_what_is_not_toml_is_refused(text: str) -> None:
    with pytest.raises(TomlRefused, match="no TOML"):
        set_table(text, CTX, {})
    with pytest.raises(TomlRefused, match="no TOML"):
        set_key(text, "k", "v")
    with pytest.raises(TomlRefused, match="no TOML"):
        remove_key(text, CTX)


def test_what_is_wrong_is_told_by_its_line() -> None:
    for text in ("a = 1\na = 2\n", "a = 1\nb = [\n", "[t]\na.b = 1\na = {}\n", "[a]\n[a]\n"):
        with pytest.raises(TomlRefused, match=r"line \d|end of document"):
            set_key(text, "k", "v")


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    [
        "a = '''\n" + "[x]\nA = 1\n" * 20_000 + "'''\n",
        "a = [\n" + "[1],\n" * 20_000 + "]\n",
        "".join(f"[t{i}]\nk = 1\n" for i in range(10_000)),
    ],
    ids=["text", "array", "tables"],
)
def test_a_large_file_takes_seconds(text: str) -> None:
    assert set_key(text, "A", "new") == 'A = "new"\n' + text
    assert remove_key(set_table(text, CTX, VALUES), CTX) == text


@pytest.mark.parametrize(
    "text", ["mcp_servers = 1", "[[mcp_servers]]", "[mcp_servers]\nctx = 1", "[[mcp_servers.ctx]]"]
)
def test_another_type_is_refused(text: str) -> None:
    with pytest.raises(TomlRefused, match="no table"):
        set_table(text, CTX, VALUES)


@pytest.mark.parametrize("text", ["[A]", "[[A]]", "A.b = 1", "[A.b]", "A = {}"])
def test_a_key_that_is_a_table_is_refused(text: str) -> None:
    with pytest.raises(TomlRefused, match="A is a table"):
        set_key(text, "A", "new")


# --- documents of many styles --------------------------------------------------------------

KEYS = st.sampled_from(["a", "b-c", "'d e'", '"f\\n"', "1", "other", "url"])
VALUE = st.sampled_from(
    [
        "1",
        "nan",
        "-1.50",
        "2026-01-02 03:04:05Z",
        "'[mcp_servers.ctx]'",
        '"# no comment"',
        '"""\n[mcp_servers.ctx]\nA = 1 \\\n\n"""',
        "'''\n# x'''",
        "[]",
        "[ # why\n\t'x', # ] }\n\n  [1 ,2,],\n]",
        "{ a = 1,b.c = [{}] }",
        "{}",
    ]
)
TRIVIA = st.sampled_from(["", "", "\n", "# a comment [x]\n", "  \t\n", "\n\n# é \u2028 A = 1\n"])
TAIL = st.sampled_from(["", "", "  ", " # = mine"])
SERVERS = st.sampled_from(
    [
        [],
        ["[mcp_servers.other]\nurl = 'x'", "[mcp_servers.other.env]\nA = '1' # c"],
        ["[ mcp_servers ]", "other.url = 'x'\n# c"],
        ["[mcp_servers]\nother = { url = 'x' } # c"],
        ["['mcp_servers'.\"other one\"] # c\nA = 2"],
        ["[[mcp_servers.list]]\nurl = 'x'", "[[mcp_servers.list]]"],
    ]
)
AT_ROOT = st.sampled_from(
    [
        "",
        "mcp_servers = {}",
        "mcp_servers={other={url='x'},more={}}",
        "mcp_servers = { other = { url = 'x' } , more.url = 'y' } # c",
        "mcp_servers.other.url = 'x'",
        "mcp_servers . 'other' = { }",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Text of valid TOML: keys, tables, trivia, servers in one of many ways."""

    def lines(count: int, used: set[str]) -> list[str]:
        names = draw(st.lists(KEYS, max_size=count, unique=True))
        return [
            f"{draw(TRIVIA)}{draw(st.sampled_from(['', '  ']))}{name}"
            f"{draw(st.sampled_from(['=', ' = ']))}{draw(VALUE)}{draw(TAIL)}"
            for name in names
            if name not in used
        ]

    root = draw(AT_ROOT)
    servers = [] if root else draw(SERVERS)
    parts = lines(3, set()) + ([root] if root else [])
    tables = draw(
        st.lists(st.sampled_from(["[t]", "[ 'u v' . w ]", "[[x]]", "[x1.y]"]), unique=True)
    )
    sections = [
        "\n".join([f"{draw(TRIVIA)}{head}{draw(TAIL)}", *lines(2, set())]) for head in tables
    ]
    at = draw(st.integers(0, len(sections)))
    text = "\n".join([*parts, *sections[:at], *servers, *sections[at:]]) + draw(TRIVIA)
    text += draw(st.sampled_from(["", "\n", "\n", "\n# end", "\n\n"]))
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "\ufeff"])) + text


def loaded(text: str) -> dict[str, object]:
    return tomllib.loads(text.removeprefix("\ufeff"), parse_float=str)


@given(documents())
def test_a_table_that_is_added_and_removed_leaves_the_bytes(text: str) -> None:
    added = set_table(text, CTX, VALUES)
    data = loaded(text)
    servers = data.get("mcp_servers", {})
    assert isinstance(servers, dict)
    assert loaded(added) == data | {"mcp_servers": servers | {"ctx": VALUES}}
    assert set_table(added, CTX, VALUES) == added
    changed = set_table(added, CTX, {"url": "v", "env_vars": ["A"]})
    assert loaded(set_table(changed, CTX, VALUES)) == loaded(added)
    assert remove_key(added, CTX) == text
    assert remove_key(changed, CTX) == text
    inline = [line for line in text.splitlines() if "mcp_servers" in line and "{" in line]
    if not inline:
        assert added.startswith(text)


@given(documents())
def test_a_key_that_is_set_and_unset_leaves_the_bytes(text: str) -> None:
    added = set_key(text, "CTX_HOST", "é'\"\n")
    assert loaded(added) == loaded(text) | {"CTX_HOST": "é'\"\n"}
    assert added.endswith(text.removeprefix("\ufeff"))
    assert remove_key(added, ("CTX_HOST",)) == text
    assert set_key(set_key(added, "CTX_HOST", "b"), "CTX_HOST", "é'\"\n") == added


@given(documents(), st.data())
def test_what_is_there_is_replaced_and_removed_alone(text: str, data: st.DataObject) -> None:
    before = loaded(text)
    names = [name for name, value in before.items() if name != "x" and not isinstance(value, dict)]
    if not names:
        return
    name = data.draw(st.sampled_from(sorted(names)))
    assert loaded(set_key(text, name, "new")) == before | {name: "new"}
    left = remove_key(text, (name,))
    assert loaded(left) == {key: value for key, value in before.items() if key != name}
    rest = iter(text.removeprefix("\ufeff").splitlines())
    assert all(
        line in rest for line in left.removeprefix("\ufeff").splitlines()
    )  # nothing moved, nothing was added
