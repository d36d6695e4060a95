"""docs/getting-started.md, word for word: its commands in one shell, and what they print."""

import asyncio
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from fastmcp import Client

from tests.support.processes import ROOT, environment

PAGE = (ROOT / "docs" / "getting-started.md").read_text()
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIVE_MINUTES = 300
LAST_COMMANDS = "ctx status\nctx down\n"


def clone(folder: Path) -> Path:
    """A clone whose `.venv` is made: installing is tested with the wheel."""
    folder.mkdir()
    (folder / "scripts").symlink_to(ROOT / "scripts")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "ctx"):
        (programs / name).symlink_to(ROOT / ".venv" / "bin" / name)
    for name in ("pyproject.toml", ".venv/installed"):
        (folder / name).touch()
    return folder


async def agent(home: Path) -> str:
    """What an agent with the installed entry gets to read."""
    installed = json.loads((home / ".cursor" / "mcp.json").read_text())
    [entry] = installed["mcpServers"].values()
    async with Client(entry["url"]) as client:
        found = await client.call_tool("repo_search", {"query": "how are retries done"})
        recalled = await client.call_tool("find", {"query": "exponential retries"})
    return str(found.content) + str(recalled.content)


@pytest.mark.slow
@pytest.mark.timeout(FIVE_MINUTES)
def test_the_page_works_word_for_word(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    commands = [text for kind, text in blocks if kind == "sh"]
    assert commands[-1] == LAST_COMMANDS
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home / "data", HOME=str(home), PATH=os.environ["PATH"])
    folder = clone(tmp_path / "ctx")
    started = time.monotonic()
    try:
        shown = shell("\n".join(commands[:-1]), folder, env)
        promised = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
        assert [line for line in promised if line not in shown] == []
        assert "Nothing fits well" not in shown
        read = asyncio.run(agent(home))
        assert "retries.py:1-3" in read
        assert "Retries are exponential, with jitter." in read
    finally:
        at_last = f'export PATH="$HOME/.local/bin:$PATH"\n{LAST_COMMANDS}'
        ended = shell(at_last, folder, env)
    assert str(home / "my-project") in ended
    assert time.monotonic() - started < FIVE_MINUTES


def shell(script: str, folder: Path, env: dict[str, str]) -> str:
    """Run commands as a newcomer does, ending at the first that fails."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=FIVE_MINUTES,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout
