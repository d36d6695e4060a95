"""Similar contexts: by vectors, by words, and links after summaries."""

import asyncio

import pytest

from ctx_core.errors import RequestInvalid, SearchFailed
from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.records.conversations.relations import RelationType
from tests.support.threads import serving

CLOSED_PORT = "http://127.0.0.1:9"  # the discard port: nothing listens there


async def _fill(conversations: Conversations) -> None:
    add = conversations.messages.add
    await add("tokens", "user", "Access tokens expire after an hour", None, [])
    await add("garden", "user", "Tulips need water in spring", None, [])


async def test_words_answer_where_vectors_are_off(settings: Settings) -> None:
    off = settings.model_copy(update={"use_vector_db": False})
    async with serving(off) as (memory, _):
        await _fill(memory.conversations)
        found = await memory.conversations.similarity.find("when do tokens expire", 5)
    assert found.by == "words"
    assert found.degraded == ["vectors are off (USE_VECTOR_DB)"]
    assert [id_ for id_, _ in found.found] == ["tokens"]
    assert 0 < found.found[0][1] <= 1


async def test_words_answer_where_qdrant_is_down(settings: Settings) -> None:
    down = settings.model_copy(update={"qdrant_url": CLOSED_PORT})
    async with serving(down) as (memory, _):
        await _fill(memory.conversations)
        found = await memory.conversations.similarity.find("when do tokens expire", 5)
    assert found.by == "words"
    assert found.degraded[0].startswith("vectors:")
    assert [id_ for id_, _ in found.found] == ["tokens"]


async def test_without_words_a_failure_is_an_error(settings: Settings) -> None:
    neither = {"use_vector_db": False, "fallback_to_keyword_match": False}
    async with serving(settings.model_copy(update=neither)) as (memory, _):
        with pytest.raises(SearchFailed, match="both off"):
            await memory.conversations.similarity.find("x", 5)


async def test_one_long_context_does_not_hide_the_others(conversations: Conversations) -> None:
    for number in range(80):
        await conversations.messages.add("long", "user", f"tokens expire, case {number}", None, [])
    await _fill(conversations)
    found = await conversations.similarity.find("tokens expire", 3)
    assert {id_ for id_, _ in found.found} == {"long", "tokens", "garden"}


async def test_similar_contexts_are_linked_after_a_summary(conversations: Conversations) -> None:
    for id_ in ("first", "second"):
        for text in ("Access tokens expire after an hour", "Refresh tokens last a week", "Noted"):
            await conversations.messages.add(id_, "user", text, None, [])
    await conversations.messages.add("garden", "user", "Tulips need water in spring", None, [])
    await conversations.messages.summarize("first")
    for _ in range(100):
        linked = await conversations.relations.related("first", RelationType.SIMILAR)
        if linked:
            break
        await asyncio.sleep(0.05)
    assert linked == ["second"]
    [edge] = await conversations.relations.edges("first")
    assert edge.is_automatic
    await conversations.relations.add("first", "second", RelationType.SIMILAR, 0.1)
    await conversations.records.relations.replace_similar("first", {})
    assert await conversations.relations.related("first") == ["second"], "asked for: it stays"


async def test_relationships_can_be_off(settings: Settings) -> None:
    off = settings.model_copy(update={"use_graph_db": False})
    async with serving(off) as (memory, _):
        with pytest.raises(RequestInvalid, match="USE_GRAPH_DB"):
            await memory.conversations.relations.add("a", "b", RelationType.SIMILAR, 1)
        await memory.conversations.messages.add("a", "user", "hello", None, [])
        assert await memory.conversations.messages.summarize("a") is not None


async def test_the_frame_of_summaries_makes_no_contexts_similar(
    conversations: Conversations,
) -> None:
    texts = {
        "garden": ("Tulips need water in spring.", "ok", "Thanks."),
        "tokens": ("Access tokens expire.", "Noted.", "Fine."),
    }
    for id_, messages in texts.items():
        for text in messages:
            await conversations.messages.add(id_, "user", text, None, [])
        await conversations.messages.summarize(id_)
    for id_ in texts:
        await conversations.upkeep.after_summary(id_)
        assert await conversations.relations.related(id_, RelationType.SIMILAR) == []
