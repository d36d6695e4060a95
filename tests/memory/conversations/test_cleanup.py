"""Cleaning up contexts, undoing it, and forgetting what was removed long ago."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from ctx_core.clock import utc_now
from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.records.conversations.conversations import ConversationRecords
from ctx_memory.records.conversations.relations import RelationType
from ctx_memory.records.entry import moment
from tests.support.threads import serving

OLD = timedelta(days=30)


async def _age(records: ConversationRecords, *columns: str, days: int = 30) -> None:
    """Have all contexts changed, or removed, days ago."""
    then = moment(utc_now() - timedelta(days=days))
    assignments = ", ".join(f"{column} = :then" for column in columns)
    condition = "removed_at IS NOT NULL" if "removed_at" in columns else "TRUE"
    async with records._database.writing("age") as connection:
        await connection.execute(
            text(f"UPDATE conversations SET {assignments} WHERE {condition}"), {"then": then}
        )


async def _add(conversations: Conversations, id_: str, content: str, **more: str) -> None:
    await conversations.messages.add(id_, "user", content, more.get("importance"), [])  # type: ignore[arg-type]


async def _crowd(conversations: Conversations) -> None:
    """Add a current context, some that must be kept, and ten that nobody needs."""
    await _add(conversations, "current", "The parser of the import job drops empty rows")
    await _add(conversations, "near", "The import job's parser drops rows that are empty")
    await _add(conversations, "related", "Bananas are yellow")
    await _add(conversations, "sibling", "The moon is far away")
    await _add(conversations, "important", "Rotate the certificates", importance="critical")
    for number in range(10):
        await _add(
            conversations, f"old-{number}", f"Recipe {number}: boil potatoes in salted water"
        )
    relate = conversations.relations.add
    await relate("related", "current", RelationType.REFERENCES, 0.5)
    await relate("family", "current", RelationType.PARENT, 0.5)
    await relate("family", "sibling", RelationType.PARENT, 0.5)
    await conversations.messages.summarize("current")
    await conversations.messages.summarize("important")
    await _age(conversations.records.conversations, "updated_at")
    await _add(conversations, "recent", "Stamps were collected in albums")


@pytest.fixture
async def crowded(conversations: Conversations) -> Conversations:
    await _crowd(conversations)
    return conversations


async def test_what_matters_is_kept_and_the_rest_is_named(crowded: Conversations) -> None:
    result = await crowded.upkeep.clean_up("current")
    assert result.removed == [f"old-{number}" for number in range(10)]
    kept = set(await crowded.messages.context_ids())
    assert kept == {"current", "near", "related", "sibling", "important", "recent"}
    assert (await crowded.messages.retrieve("old-1"))["messages"] == []
    found = await crowded.similarity.find("boil potatoes", 20)
    assert not {id_ for id_, _ in found.found} & set(result.removed)


async def test_a_cleanup_is_undone_with_everything(crowded: Conversations) -> None:
    await crowded.relations.add("old-1", "old-2", RelationType.CONTINUES, 0.9)
    removed = (await crowded.upkeep.clean_up("current")).removed
    assert await crowded.relations.related("old-1") == []
    assert await crowded.upkeep.undo("another") == []
    assert await crowded.upkeep.undo("current") == removed
    assert await crowded.relations.related("old-1") == ["old-2"]
    [message] = (await crowded.messages.retrieve("old-1"))["messages"]
    assert message["content"] == "Recipe 1: boil potatoes in salted water"


async def test_a_message_brings_a_removed_context_back(crowded: Conversations) -> None:
    await crowded.upkeep.clean_up("current")
    await _add(crowded, "old-3", "Do not forget the salt")
    assert (await crowded.messages.retrieve("old-3"))["totalMessages"] == 2


async def test_after_seven_days_what_was_removed_is_gone(crowded: Conversations) -> None:
    await crowded.upkeep.clean_up("current")
    await crowded.upkeep.maintain()
    assert len(await crowded.upkeep.undo("current")) == 10, "six days later it can be undone"
    await crowded.upkeep.clean_up("current")
    await _age(crowded.records.conversations, "removed_at", days=8)
    await crowded.upkeep.maintain()
    assert await crowded.upkeep.undo("current") == []
    found = await crowded.similarity.find("boil potatoes", 20)
    assert not {id_ for id_, _ in found.found if id_.startswith("old-")}


async def test_a_context_without_a_summary_has_nothing_to_compare(crowded: Conversations) -> None:
    result = await crowded.upkeep.clean_up("recent")
    assert result.removed == []
    assert "summarize it" in str(result.reason)


async def test_a_summary_cleans_up_only_where_the_setting_says_so(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(settings) as (memory, _):
        await _crowd(memory.conversations)
        await memory.conversations.upkeep.after_summary("current")
        left = await memory.conversations.messages.context_ids()
        assert "old-1" in left, "nothing is deleted unasked"
    cleaning = settings.model_copy(update={"auto_cleanup_contexts": True})
    async with serving(cleaning) as (memory, _):
        await memory.conversations.upkeep.after_summary("current")
        left = await memory.conversations.messages.context_ids()
        assert "old-1" not in left
        assert {"current", "near", "related", "important", "recent"} <= set(left)
        assert "old-1" in caplog.text, "what was removed is named"
        restored = await memory.conversations.upkeep.undo("current")
        assert len(restored) == 10
