"""Importing another system's summaries, once."""

import json
from pathlib import Path

from services.core.settings import Settings
from tests.support.threads import serving


def _write(folder: Path) -> None:
    folder.mkdir()
    summary = {
        "contextId": "src/a.js",
        "lastUpdated": 1_700_000_000_000,
        "summary": "The scheduler retries three times",
        "codeBlocks": [{"language": "js", "code": "retry(3)", "importance": 0.7}, "plain()"],
        "messageCount": 12,
        "version": 1,
        "keyInsights": ["Why three?"],
        "importanceScore": 0.75,
    }
    (folder / "src_a.js.json").write_text(json.dumps(summary))
    (folder / "known.json").write_text(json.dumps({"contextId": "known", "summary": "theirs"}))
    (folder / "broken.json").write_text("{")
    (folder / "other.json").write_text('{"nodes": []}')
    (folder / "link.json").symlink_to("/etc/hostname")


async def test_a_folder_is_imported_once(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "contexts"
    _write(folder)
    async with serving(settings) as (memory, _):
        await memory.conversations.messages.add("known", "user", "ours", None, [])
    importing = settings.model_copy(update={"context_dir": folder})
    async with serving(importing) as (memory, _):
        conversations = memory.conversations
        assert set(await conversations.messages.context_ids()) == {"src/a.js", "known"}
        found = await conversations.messages.retrieve("src/a.js")
        assert found["summary"] is not None
        assert found["summary"]["lastUpdated"] == 1_700_000_000_000
        assert found["summary"]["codeBlocks"] == ["retry(3)", "plain()"]
        assert found["summary"]["messageCount"] == 12
        assert found["summary"]["summaryBy"] == "imported"
        assert (await conversations.messages.retrieve("known"))["summary"] is None, "ours stays"
        similar = await conversations.similarity.find("how often does the scheduler retry", 1)
        assert [id_ for id_, _ in similar.found] == ["src/a.js"]
        await conversations.messages.add("src/a.js", "user", "Now it retries five times.", None, [])
        summary = await conversations.messages.summarize("src/a.js")
        assert summary is not None
        assert (summary["version"], summary["messageCount"]) == (2, 13)
        assert "three times" in summary["summary"]
    async with serving(importing) as (memory, _):
        found = await memory.conversations.messages.retrieve("src/a.js")
        assert found["summary"] is not None
        assert found["summary"]["version"] == 2, "not imported again"
