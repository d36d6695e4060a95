"""Summaries of contexts: thresholds, long contexts in bounded prompts, decoders."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from ctx_core.errors import DecoderFailed
from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.records.conversations.conversations import SummaryThresholds
from ctx_memory.summaries.writer import MIN_CHARACTERS_PER_TOKEN, SummaryWriter
from tests.support.threads import serving

CONTEXT_TOKENS = 1024


class Counter:
    """A decoder that answers how many messages it was shown, and may fail."""

    name = "counter"

    def __init__(self, failures: int = 0) -> None:
        self.prompts: list[str] = []
        self._failures = failures

    async def complete(self, prompt: str, max_tokens: int, system: str | None = None) -> str:
        if self._failures:
            self._failures -= 1
            raise DecoderFailed("the decoder is asleep")
        self.prompts.append(prompt)
        return f"summary after {len(self.prompts)} prompts"

    async def close(self) -> None: ...


async def _add(conversations: Conversations, id_: str, texts: Sequence[str]) -> None:
    for text in texts:
        await conversations.messages.add(id_, "user", text, "medium", [])


def _summariser(conversations: Conversations, decoder: Counter) -> ConversationSummariser:
    writer = SummaryWriter(decoder, 128, CONTEXT_TOKENS)
    return ConversationSummariser(conversations.records, writer, conversations.calls.tracked)


async def test_a_long_context_is_summarised_in_bounded_prompts(
    conversations: Conversations,
) -> None:
    await _add(conversations, "long", [f"message {n} " + "x" * 90 for n in range(150)])
    decoder = Counter()
    summary = await _summariser(conversations, decoder).summarise("long")
    assert summary is not None
    assert summary.written_by == "counter"
    assert summary.details["messageCount"] == 150
    assert len(decoder.prompts) > 5
    longest = max(len(prompt) for prompt in decoder.prompts)
    assert longest < CONTEXT_TOKENS * MIN_CHARACTERS_PER_TOKEN
    assert "summary after 1 prompts" in decoder.prompts[1]
    shown = "\n".join(decoder.prompts)
    assert all(f"message {n} " in shown for n in range(150))
    conversation = await conversations.records.conversations.get("long")
    assert conversation is not None
    assert (conversation.fresh_messages, conversation.fresh_tokens) == (0, 0)


async def test_one_message_longer_than_a_prompt_is_cut(conversations: Conversations) -> None:
    await _add(conversations, "huge", ["word " * 20_000, "short"])
    decoder = Counter()
    summary = await _summariser(conversations, decoder).summarise("huge")
    assert summary is not None
    assert summary.details["messageCount"] == 2
    assert all(len(p) < CONTEXT_TOKENS * MIN_CHARACTERS_PER_TOKEN for p in decoder.prompts)


async def test_what_fails_is_summarised_by_the_next_attempt(conversations: Conversations) -> None:
    await _add(conversations, "c", ["hello"])
    summariser = _summariser(conversations, Counter(failures=1))
    with pytest.raises(DecoderFailed):
        await summariser.summarise("c")
    summary = await summariser.summarise("c")
    assert summary is not None
    assert (summary.version, summary.details["messageCount"]) == (1, 1)


async def test_two_summaries_at_once_count_every_message_once(
    conversations: Conversations,
) -> None:
    await _add(conversations, "c", [f"message {n}" for n in range(20)])
    summariser = _summariser(conversations, Counter())
    await asyncio.gather(*(summariser.summarise("c") for _ in range(4)))
    summary = await summariser.summarise("c")
    assert summary is not None
    assert summary.details["messageCount"] == 20
    conversation = await conversations.records.conversations.get("c")
    assert conversation is not None
    assert conversation.fresh_messages == 0


async def test_a_start_summarises_what_grew_before(settings: Settings) -> None:
    async with serving(settings) as (memory, _):
        await _add(memory.conversations, "c", [f"message {n}" for n in range(10)])
        assert await memory.conversations.records.conversations.due(
            SummaryThresholds(10, 99999, 2)
        ) == ["c"]
    automatic = settings.model_copy(update={"auto_summarize": True})
    async with serving(automatic) as (memory, _):
        for _ in range(100):
            found = await memory.conversations.messages.retrieve("c")
            if found["summary"] is not None:
                break
            await asyncio.sleep(0.05)
        assert found["summary"] is not None


async def test_many_tokens_are_summarised(settings: Settings) -> None:
    tokens = {"auto_summarize": True, "token_limit_percentage": 1.0}
    async with serving(settings.model_copy(update=tokens)) as (memory, _):
        await _add(memory.conversations, "c", ["word " * 40])
        for _ in range(100):
            found = await memory.conversations.messages.retrieve("c")
            if found["summary"] is not None:
                return
            await asyncio.sleep(0.05)
    raise AssertionError("40 words are more than one percent of 4096 tokens")


@pytest.mark.parametrize(
    "text", ["word " * 200_000, "```\n" * 200_000, "a? " * 300_000, "``` x\n" * 100_001]
)
async def test_hostile_texts_take_no_long_time(conversations: Conversations, text: str) -> None:
    """Patterns that look back would take minutes, on the event loop."""
    await _add(conversations, "hostile", [text])
    started = time.perf_counter()
    assert await conversations.messages.summarize("hostile") is not None
    assert time.perf_counter() - started < 15
