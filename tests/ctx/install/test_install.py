"""`ctx install` and `ctx uninstall` on a home folder of their own."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ctx.install.clients import CLIENTS
from ctx.install.servers import TOOLSETS
from tests.support.processes import ROOT, environment, run_ctx

BOTH, MEMORY, INDEXER = "ctx", "ctx-memory", "ctx-indexer"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def ctx(home: Path, *arguments: str, cwd: Path | None = None) -> Any:
    env = environment(home / "data", HOME=str(home))
    return run_ctx(env, *arguments, cwd=cwd or home)


def servers_in(name: str, file: Path) -> Any:
    client = CLIENTS[name]
    text = file.read_text()
    found = tomllib.loads(text) if client.kind == "toml" else json.loads(text)
    return found[client.keys[0]]


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_in_and_out(home: Path, name: str) -> None:
    file = home / CLIENTS[name].user_file
    shown = ctx(home, "install", name, "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert CLIENTS[name].keys[0] in shown.stdout
    assert not file.exists()
    done = ctx(home, "install", name, "--token-env", "MCP_CTX_TOKEN", "--json")
    assert done.returncode == 0, done.stderr
    servers = servers_in(name, file)
    assert set(servers) == {BOTH}
    entry = servers[BOTH]
    assert "/mcp" in json.dumps(entry)
    assert "MCP_CTX_TOKEN" in json.dumps(entry)
    assert ctx(home, "uninstall", name).returncode == 0
    assert not file.exists()
    assert {each.name for each in home.iterdir()} == {"data"}  # nor a folder made for it


REMOTE = ("--token-env", "MCP_CTX_TOKEN", "--read-only")
# How each client that reads variables writes one; Codex and Zed read none.
REFERENCES = {
    "cursor": "${env:MCP_CTX_TOKEN}",
    "vscode": "${env:MCP_CTX_TOKEN}",
    "windsurf": "${env:MCP_CTX_TOKEN}",
    "gemini": "$MCP_CTX_TOKEN",
    "opencode": "{env:MCP_CTX_TOKEN}",
    "cline": "${env:MCP_CTX_TOKEN}",
    "kiro": "${MCP_CTX_TOKEN}",
}


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "claude-code"])
def test_mcp_remote_gets_a_token_without_a_space_in_an_argument(home: Path, name: str) -> None:
    done = ctx(home, "install", name, "--transport", "sse", *REMOTE)
    assert done.returncode == 0, done.stderr
    entry = servers_in(name, home / CLIENTS[name].user_file)[MEMORY]
    is_list = name == "opencode"
    words = entry["command"] if is_list else [entry["command"], *entry["args"]]
    env = entry["environment" if is_list else "env"]
    assert words[:3] == ["npx", "-y", "mcp-remote"]
    assert not [word for word in words if " " in word]
    assert "X-MCP-Readonly:true" in words
    if name in REFERENCES:
        assert words[-2:] == ["--header", "Authorization:${AUTH_HEADER}"]
        assert env == {"AUTH_HEADER": f"Bearer {REFERENCES[name]}"}
    else:
        assert words[-2:] == ["--header", "Authorization:${AUTH_SCHEME}${MCP_CTX_TOKEN}"]
        assert env == {"AUTH_SCHEME": "Bearer "}


def test_a_client_that_reaches_a_server_itself_needs_no_mcp_remote(home: Path) -> None:
    assert ctx(home, "install", "claude-code", "--transport", "sse", *REMOTE).returncode == 0
    entry = servers_in("claude-code", home / ".claude.json")[MEMORY]
    assert (entry["type"], entry["url"][-4:]) == ("sse", "/sse")
    assert entry["headers"]["Authorization"] == "Bearer ${MCP_CTX_TOKEN}"


def test_a_client_without_variables_sends_its_token_through_mcp_remote(home: Path) -> None:
    """Zed sends the headers of its settings as they stand."""
    zed = home / CLIENTS["zed"].user_file
    assert ctx(home, "install", "zed").returncode == 0
    assert servers_in("zed", zed)[BOTH]["url"].endswith("/mcp")
    assert ctx(home, "install", "zed", *REMOTE, "--toolset", "lean").returncode == 0
    args = servers_in("zed", zed)[BOTH]["args"]
    assert args[2].endswith("/mcp/x/lean")
    assert args[3:5] == ["--transport", "http-only"]
    assert args[-1] == "Authorization:${AUTH_SCHEME}${MCP_CTX_TOKEN}"


def test_codex_hands_on_the_variables_it_is_told(home: Path) -> None:
    ctx(home, "install", "codex", "--transport", "sse", "--token-env", "MCP_CTX_TOKEN")
    entry = servers_in("codex", home / CLIENTS["codex"].user_file)[MEMORY]
    assert entry["env_vars"] == ["MCP_CTX_TOKEN"]


def test_what_is_there_is_kept_and_restored_to_the_byte(home: Path) -> None:
    cursor = home / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    original = b'{\r\n  // mine\r\n  "mcpServers": { "other": {"url": "x"} },\r\n}\r\n'
    cursor.write_bytes(original)
    cursor.chmod(0o640)
    assert ctx(home, "install").returncode == 0  # found without its name
    assert b"// mine" in cursor.read_bytes()
    assert b'"other"' in cursor.read_bytes()
    assert cursor.with_name("mcp.json.before-ctx").read_bytes() == original
    assert ctx(home, "install", "cursor", "--transport", "stdio").returncode == 0
    assert b'"both"' in cursor.read_bytes()
    assert ctx(home, "install", "cursor", "--transport", "sse").returncode == 0
    assert b'"ctx":' not in cursor.read_bytes()  # the one address is replaced, not kept beside
    assert ctx(home, "uninstall").returncode == 0
    assert cursor.read_bytes() == original
    assert cursor.stat().st_mode & 0o777 == 0o640
    assert ctx(home, "uninstall").returncode == 1


def test_later_changes_of_the_user_stay(home: Path) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "theme": "dark"\n}\n')
    ctx(home, "install", "gemini")
    file.write_text(file.read_text().replace('"dark"', '"light"'))
    assert ctx(home, "uninstall", "gemini").returncode == 0
    left = json.loads(file.read_text())
    assert left["theme"] == "light"
    assert left["mcpServers"] == {}


def test_a_client_that_writes_its_file_anew_keeps_nothing_of_ours(home: Path) -> None:
    """Claude Code and opencode do: what is restored later is what they wrote, without ours."""
    file = home / ".gemini" / "settings.json"
    ctx(home, "install", "gemini")
    file.write_text(json.dumps({"theme": "dark", **json.loads(file.read_text())}))
    ctx(home, "install", "gemini", "--two-entries")
    assert ctx(home, "uninstall", "gemini").returncode == 0
    assert json.loads(file.read_text()) == {"theme": "dark", "mcpServers": {}}


def test_a_broken_file_stops_everything(home: Path) -> None:
    for name in ("cursor", "kiro"):
        (home / CLIENTS[name].user_file).parent.mkdir(parents=True)
    broken = home / CLIENTS["kiro"].user_file
    broken.write_text('{"mcpServers": ')
    done = ctx(home, "install", "cursor", "kiro")
    assert done.returncode == 2
    assert "nothing was changed" in done.stderr
    assert broken.read_text() == '{"mcpServers": '
    assert not (home / CLIENTS["cursor"].user_file).exists()


@pytest.mark.parametrize(
    "original",
    [
        b"\xef\xbb\xbfmodel = 'o5' # large\r\n\r\n[ mcp_servers . other ] # mine\r\nurl = 'x'\r\n",
        b"mcp_servers = { other = { url = 'x' } } # mine\n[profiles.work]\nmodel = 's'",
        b"mcp_servers.other.url = 'x'\n# mine",
    ],
)
def test_codex_settings_of_any_style_are_kept_and_restored(home: Path, original: bytes) -> None:
    """Also where the user changed the file since, so that no copy is put back."""
    file = home / CLIENTS["codex"].user_file
    file.parent.mkdir()
    file.write_bytes(original)
    assert ctx(home, "install", "codex").returncode == 0
    assert {"other", BOTH} == set(tomllib.loads(file.read_text("utf-8-sig"))["mcp_servers"])
    file.write_bytes(file.read_bytes().replace(b"# mine", b"# still mine"))
    assert ctx(home, "install", "codex", "--transport", "sse").returncode == 0
    assert ctx(home, "uninstall", "codex").returncode == 0
    assert file.read_bytes() == original.replace(b"# mine", b"# still mine")


@pytest.mark.parametrize("content", [b"model = ", b"mcp_servers = 1", b"a = '\xff'"])
def test_a_codex_file_that_cannot_be_changed_is_left(home: Path, content: bytes) -> None:
    file = home / CLIENTS["codex"].user_file
    file.parent.mkdir()
    file.write_bytes(content)
    done = ctx(home, "install", "codex")
    assert (done.returncode, file.read_bytes()) == (2, content)
    assert "nothing was changed" in done.stderr


def test_a_link_is_followed(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert ctx(home, "install", "cursor").returncode == 0
    assert link.is_symlink()
    assert '"ctx"' in real.read_text()
    assert ctx(home, "uninstall", "cursor").returncode == 0
    assert real.read_text() == "{}\n"


def test_scopes_transports_and_wrong_use(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    done = ctx(
        home,
        "install",
        "claude-code",
        "--scope",
        "project",
        "--toolset",
        "lean",
        "--two-entries",
        cwd=project,
    )
    assert done.returncode == 0, done.stderr
    assert servers_in("claude-code", project / ".mcp.json")[INDEXER]["url"].endswith("/mcp/x/lean")
    ctx(home, "install", "opencode", "--transport", "sse")
    entry = servers_in("opencode", home / CLIENTS["opencode"].user_file)[MEMORY]
    ctx(home, "install", "codex", "--transport", "stdio")
    program = servers_in("codex", home / CLIENTS["codex"].user_file)["ctx"]
    assert {"CTX_DATA_DIR", "CTX_HTTP_PORT"} <= set(program["env_vars"])
    assert program["startup_timeout_sec"] == 30
    assert entry["command"][:3] == ["npx", "-y", "mcp-remote"]
    for arguments in (
        ["install", "emacs"],
        ["install", "windsurf", "--scope", "project"],
        ["install", "cursor", "--token-env", "CTX_AUTH_TOKENS"],
        ["install", "cursor", "--token-env", "not a name"],
        ["install", "cursor", "--transport", "stdio", "--toolset", "lean"],
    ):
        assert ctx(home, *arguments).returncode == 2, arguments
    assert ctx(tmp_path / "project", "install", cwd=project).returncode == 1


def test_a_toolset_that_no_server_has_is_refused(home: Path) -> None:
    done = ctx(home, "install", "cursor", "--toolset", "nope")
    assert done.returncode == 2
    assert all(name in done.stderr for name in ("nope", *TOOLSETS))
    assert not (home / CLIENTS["cursor"].user_file).exists()
    assert ctx(home, "install", "cursor", "--toolset", "lean", "--dry-run").returncode == 0


def test_the_toolsets_that_can_be_chosen_are_those_of_the_servers() -> None:
    documented = re.findall(r"^Toolset `(\w+)`", (ROOT / "docs/tools.md").read_text(), re.M)
    assert set(TOOLSETS) == {"all", "lean", *documented}
