"""`ctx install --plugin`: a folder that Claude Code loads; and links that add a server."""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from ctx.install.plugin import FILES, HOOKS, MANIFEST, SERVERS, SKILL
from tests.support.processes import ROOT, environment, run_ctx


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def ctx(home: Path, *arguments: str) -> Any:
    return run_ctx(environment(home / "data", HOME=str(home)), *arguments, cwd=home)


def written(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


def test_the_plugin_comes_and_goes_without_a_trace(home: Path) -> None:
    plugin = home / ".claude" / "skills" / "ctx"
    done = ctx(home, "install", "claude-code", "--plugin", str(plugin), "--transport", "stdio")
    assert done.returncode == 0, done.stderr
    assert written(plugin) == set(FILES)
    assert not (home / ".claude.json").exists()  # the plugin has the servers
    manifest = json.loads((plugin / MANIFEST).read_text())
    assert {"name", "version", "description", "author"} <= manifest.keys()
    [server] = json.loads((plugin / SERVERS).read_text())["mcpServers"].values()
    assert server["args"][-2:] == ["stdio", "both"]
    assert ctx(home, "uninstall", "--plugin", str(plugin)).returncode == 0
    assert not (home / ".claude").exists()
    assert ctx(home, "uninstall", "--plugin", str(plugin)).returncode == 1


def test_what_the_user_changed_or_has_there_stays(home: Path) -> None:
    plugin = home / "plugin"
    assert ctx(home, "install", "--plugin", str(plugin)).returncode == 0
    (plugin / SKILL).write_text("my own words")
    assert ctx(home, "uninstall", "--plugin", str(plugin)).returncode == 0
    assert written(plugin) == {SKILL}
    other = home / "other" / MANIFEST
    other.parent.mkdir(parents=True)
    other.write_text('{"name": "another"}')
    refused = ctx(home, "install", "--plugin", str(home / "other"))
    assert refused.returncode == 2
    assert "another plugin's" in refused.stderr
    assert written(home / "other") == {MANIFEST}
    assert ctx(home, "install", "cursor", "--plugin", str(plugin)).returncode == 2


def test_the_hook_tells_a_session_what_is_there(home: Path) -> None:
    plugin = home / "plugin"
    env = environment(home / "data", HOME=str(home)) | {"PYTHONPATH": str(ROOT)}
    assert run_ctx(env, "install", "--plugin", str(plugin), cwd=home).returncode == 0
    [start] = json.loads((plugin / HOOKS).read_text())["hooks"]["SessionStart"]
    [hook] = start["hooks"]
    said = subprocess.run(
        ["sh", "-c", hook["command"]], cwd=home, env=env, capture_output=True, text=True, check=True
    )
    assert said.stdout == "ctx: the servers do not run; `ctx up --detach` starts them.\n"


def test_the_skill_names_tools_that_exist() -> None:
    known = {
        name
        for server in ("memory", "indexer")
        for name in json.loads((ROOT / "tests" / "golden" / f"tools_{server}.json").read_text())
    }
    text = (ROOT / "ctx" / "install" / "SKILL.md").read_text()
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", text)) - {"ctx"}
    assert len(named) > 10
    assert named <= known


@pytest.mark.skipif(shutil.which("claude") is None, reason="Claude Code is not installed here")
def test_claude_code_finds_no_fault(home: Path) -> None:
    plugin = home / "plugin"
    assert ctx(home, "install", "--plugin", str(plugin)).returncode == 0
    checked = subprocess.run(
        ["claude", "plugin", "validate", "--strict", str(plugin)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_links_hold_the_entry_of_the_client(home: Path) -> None:
    done = ctx(home, "install", "--link", "--token-env", "MCP_CTX_TOKEN", "--json")
    cursor, vscode = json.loads(done.stdout)["links"]
    query = parse_qs(urlsplit(cursor["link"]).query)
    assert query["name"] == ["ctx"]
    entries = {"cursor": json.loads(base64.b64decode(query["config"][0]))}
    config = json.loads(unquote(vscode["link"].removeprefix("vscode:mcp/install?")))
    assert config.pop("name") == "ctx"
    entries["vscode"] = config
    for name, entry in entries.items():
        made = ctx(home, "install", name, "--token-env", "MCP_CTX_TOKEN", "--dry-run").stdout
        lines = [
            line[1:] for line in made.splitlines() if line.startswith("+") and line[1:2] != "+"
        ]
        [servers] = json.loads("\n".join(lines)).values()
        # The ports differ from run to run: `environment` takes free ones.
        assert _without_port(servers["ctx"]) == _without_port(entry)
    assert ctx(home, "install", "gemini", "--link").returncode == 2


def _without_port(entry: Any) -> Any:
    return json.loads(re.sub(r":\d+/mcp", "/mcp", json.dumps(entry)))
