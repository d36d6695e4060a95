"""Counted calls: how long they are kept, and that counting can be off."""

from datetime import timedelta

from sqlalchemy import text

from ctx_core.clock import utc_now
from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.entry import moment
from tests.support.threads import serving


async def _counted(conversations: Conversations) -> int:
    return (await conversations.calls.statistics(0, None))["totalCalls"]


async def _age(conversations: Conversations, days: int) -> None:
    then = moment(utc_now() - timedelta(days=days))
    async with conversations.records.calls._database.writing("age") as connection:
        await connection.execute(text("UPDATE conversation_calls SET at = :then"), {"then": then})


async def test_calls_are_kept_for_the_days_of_the_setting(settings: Settings) -> None:
    keeping = settings.model_copy(update={"api_analytics_retention": 5})
    async with serving(keeping) as (memory, _):
        conversations = memory.conversations
        await conversations.calls.add(CallType.GRAPH_DB_ADD, 0.25)
        await _age(conversations, 6)
        await conversations.calls.add(CallType.GRAPH_DB_SEARCH, 0.5)
        within = await conversations.calls.statistics(None, None)
        assert within["callsByType"]["graph_db_add"] == 0, "older than the retention"
        assert await _counted(conversations) == 2
        await conversations.upkeep.maintain()
        assert await _counted(conversations) == 1
        kept = await conversations.calls.statistics(None, None)
        assert kept["callsByType"]["graph_db_search"] == 1
        assert kept["averageDuration"]["graph_db_search"] == 500.0
        assert set(kept["callsByType"]) == {type_.value for type_ in CallType}
    async with serving(keeping) as (memory, _):
        assert await _counted(memory.conversations) == 1, "counts survive a restart"


async def test_counting_can_be_off(settings: Settings) -> None:
    quiet = settings.model_copy(update={"track_api_calls": False})
    async with serving(quiet) as (memory, _):
        run = memory.conversations.actions.run
        await run({"action": "add", "contextId": "a", "role": "user", "content": "one"})
        await run({"action": "find_similar", "contextId": "a", "searchText": "one"})
        assert await _counted(memory.conversations) == 0
