"""A folder that Claude Code loads as a plugin: the servers, a skill and a session-start hook."""

import json
import shlex
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from ctx.background import command_line
from ctx.install.configuration import Edit, decoded, is_as_written, read_file, restored
from ctx_core.errors import InvalidInput

NAME = "ctx"
MANIFEST, SERVERS = ".claude-plugin/plugin.json", ".mcp.json"
HOOKS, SKILL = "hooks/hooks.json", "skills/code-and-memory/SKILL.md"
FILES = (MANIFEST, SERVERS, HOOKS, SKILL)
HOOK_SECONDS = 15  # an idle machine answers within one


def with_plugin(folder: Path, servers: Mapping[str, Mapping[str, Any]]) -> dict[str, Edit]:
    """Plan the files of the plugin. Raises InvalidInput where the folder has another plugin."""
    _check_owner(folder / MANIFEST)
    files = {
        MANIFEST: _json(_manifest()),
        SERVERS: _json({"mcpServers": dict(servers)}),
        HOOKS: _json(_hooks()),
        SKILL: (Path(__file__).parent / "SKILL.md").read_bytes(),
    }
    return {
        f"plugin {name}": Edit(folder / name, read_file(folder / name), content)
        for name, content in files.items()
    }


def without_plugin(folder: Path, data_dir: Path) -> dict[str, Edit]:
    """Plan the folder without our files; one that was changed since stays."""
    edits = {}
    for name in reversed(FILES):  # the first one knows which folder was made for all
        before = read_file(folder / name)
        if before is not None and is_as_written(folder / name, before, data_dir):
            edits[f"plugin {name}"] = restored(folder / name, before, data_dir)
    return edits


def _check_owner(manifest: Path) -> None:
    content = read_file(manifest)
    if content is None:
        return
    try:
        name = json.loads(decoded(manifest, content)).get("name")
    except (ValueError, AttributeError):
        name = None
    if name != NAME:
        raise InvalidInput("--plugin", f"{manifest} is another plugin's; choose another folder")


def _manifest() -> dict[str, Any]:
    return {
        "name": NAME,
        "version": metadata.version("ctx-engine"),
        "description": metadata.metadata("ctx-engine")["Summary"],
        "author": {"name": "ctx"},
        "license": "MIT",
        "keywords": ["mcp", "code-search", "memory"],
    }


def _hooks() -> dict[str, Any]:
    """Return the hook: the agent reads its output; it succeeds where no server runs."""
    words = command_line("status", "--brief")
    hook = {"type": "command", "command": f"{shlex.join(words)} || true", "timeout": HOOK_SECONDS}
    return {"hooks": {"SessionStart": [{"matcher": "startup|resume|clear", "hooks": [hook]}]}}


def _json(body: Mapping[str, Any]) -> bytes:
    return (json.dumps(body, indent=2) + "\n").encode()
