"""From a running server to a backup to another data folder, with everything found there again."""

import json
from pathlib import Path
from typing import Any

from fastmcp import Client

from tests.support.processes import environment, run_ctx, running


async def test_backup_and_restore(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    backups = tmp_path / "backups"
    backups.mkdir()
    with running(env) as server:
        async with Client(server.memory_http) as client:
            await client.call_tool("store", {"information": "Invoices are checked at midnight."})
            thread = {"thread_id": "one", "source": "user", "text": "The cache was the culprit."}
            await client.call_tool("store_context", thread)
        for _ in range(3):
            done = run_ctx(env, "backup", str(backups / "named.zip"), "--json")
            assert done.returncode == 0, done.stderr
        kept = run_ctx(env, "backup", "--folder", str(backups), "--keep", "1", "--json")
        body: dict[str, Any] = json.loads(kept.stdout)
        assert body["rows"]["entries"] == 2
        assert body["removed"] == []
    new = environment(tmp_path / "new")
    restored = run_ctx(new, "restore", body["file"], "--json")
    assert restored.returncode == 0, restored.stderr
    again = run_ctx(new, "restore", body["file"])
    assert again.returncode == 2
    assert "empty" in again.stderr
    with running(new) as server:
        async with Client(server.memory_http) as client:
            found = await client.call_tool("find", {"query": "when are invoices checked"})
            assert "midnight" in str(found.structured_content)
            searched = await client.call_tool("semantic_search_context", {"query": "culprit"})
            assert "cache" in str(searched.structured_content)


def test_wrong_use_is_said(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    for arguments, said in (
        (["--keep", "3"], "--folder"),
        ([str(tmp_path / "no" / "such.zip")], "does not exist"),
        (["a.zip", "--folder", str(tmp_path)], "without FILE"),
    ):
        done = run_ctx(env, "backup", *arguments)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
