"""Summarises conversations: the messages after the last summary, part by part."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from ctx_core.text.excerpts import truncate
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.conversations import Conversation
from ctx_memory.records.conversations.messages import HIGH_IMPORTANCE
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import Coverage, Summary, SummaryDraft, SummaryLevel
from ctx_memory.records.entry import Entry
from ctx_memory.summaries.writer import SummaryWriter

BATCH = 200  # messages read at a time
MAX_TOPICS = 3  # recent user messages that a summary without a decoder names
TOPIC_CHARACTERS = 100
MAX_CODE_BLOCKS = 20  # code blocks of a summary, the newest
MAX_INSIGHTS = 5
MIN_INSIGHT_CHARACTERS = 10
MAX_INSIGHT_CHARACTERS = 500  # a longer one is no insight
MAX_CODE_CHARACTERS = 20_000  # characters of all code blocks; a block beyond them is left out
FENCE = "```"
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
USER = "user"

Tracker = Callable[[CallType], AbstractAsyncContextManager[None]]
"""Counts a call and measures it, until the block ends."""


@dataclass(frozen=True)
class _Part:
    """Messages that one call of the writer summarises, and their text."""

    messages: Sequence[Entry]
    text: str

    def coverage(self, after: int) -> Coverage:
        return Coverage(
            after=after,
            through=self.messages[-1].id,
            messages=len(self.messages),
            tokens=sum(int(each.metadata.get("tokens", 0)) for each in self.messages),
            important=sum((each.importance or 0) >= HIGH_IMPORTANCE for each in self.messages),
        )


class ConversationSummariser:
    """Writes the summary of a conversation from the earlier one and the messages after it."""

    def __init__(self, records: ConversationStore, writer: SummaryWriter, tracked: Tracker) -> None:
        self._records = records
        self._writer = writer
        self._tracked = tracked

    async def summarise(self, id_: str) -> Summary | None:
        """Bring the summary up to date and return it; None where there is nothing to summarise.

        Every part is saved, so that a stop in the middle loses nothing. Raises DecoderFailed.
        """
        conversation = await self._records.conversations.get(id_)
        through = await self._records.messages.last(id_)  # later ones wait for the next summary
        while conversation is not None and conversation.summarised_through < through:
            part = await self._next_part(conversation)
            if part is None:
                break
            async with self._tracked(CallType.LLM_SUMMARIZE):
                draft = await self._draft(conversation, part)
                coverage = part.coverage(conversation.summarised_through)
                # Where another process was first, the next round goes on from its summary.
                await self._records.summaries.save(id_, draft, coverage)
            conversation = await self._records.conversations.get(id_)
        return await self._known(id_)

    async def _known(self, id_: str) -> Summary | None:
        return (await self._records.summaries.get(SummaryLevel.CONVERSATION, [id_])).get(id_)

    async def _next_part(self, conversation: Conversation) -> _Part | None:
        """Return the next messages that fit into one call."""
        after = conversation.summarised_through
        found = await self._records.messages.after(conversation.id, after, BATCH)
        chosen: list[Entry] = []
        lines: list[str] = []
        remaining = self._writer.max_read
        for message in found:
            line = self._line(message)
            if chosen and len(line) >= remaining:
                break
            chosen.append(message)
            lines.append(line)
            remaining -= len(line) + 1
        return _Part(chosen, "\n".join(lines)) if chosen else None

    def _line(self, message: Entry) -> str:
        """Return a message as the writer reads it: `user: text`; extracts are made without code."""
        if self._writer.is_extractive:
            return _prose(message.text)[: self._writer.max_read]
        return f"{message.source}: {message.text}"[: self._writer.max_read]

    async def _draft(self, conversation: Conversation, part: _Part) -> SummaryDraft:
        known = await self._known(conversation.id)
        details: dict[str, Any] = dict(known.details) if known else {}
        earlier = str(details.get("points") or (known.text if known else ""))
        written = await self._writer.extend(earlier, part.text)
        count = int(details.get("messageCount", 0)) + len(part.messages)
        topics = [*details.get("topics", ()), *_topics(part.messages)][-MAX_TOPICS:]
        details |= {
            "messageCount": count,
            "topics": topics,
            "codeBlocks": _fitting(
                _latest(
                    [*details.get("codeBlocks", ()), *_code_blocks(part.messages)], MAX_CODE_BLOCKS
                )
            ),
            "keyInsights": _latest(
                [*details.get("keyInsights", ()), *_insights(part.messages)], MAX_INSIGHTS
            ),
            "importanceScore": _importance(conversation),
        }
        details.pop("points", None)
        if self._writer.is_extractive:
            details["points"] = written
            written = _extractive(conversation.id, count, topics, written)
        return SummaryDraft(written, self._writer.name, details)


def _extractive(id_: str, count: int, topics: Sequence[str], points: str) -> str:
    recent = f" Recent topics: {' | '.join(topics)}" if topics else ""
    return f"Summary of {count} messages for context {id_}.{recent}\n\n{points}"


def _topics(messages: Sequence[Entry]) -> list[str]:
    texts = [" ".join(_prose(each.text).split()) for each in messages if each.source == USER]
    texts = [text for text in texts if text]
    return [
        text if len(text) <= TOPIC_CHARACTERS else f"{truncate(text, TOPIC_CHARACTERS)}..."
        for text in texts[-MAX_TOPICS:]
    ]


def _code_blocks(messages: Sequence[Entry]) -> list[str]:
    """Return the code between fences, without the line that opens it."""
    blocks = (block for each in messages for block in _parts(each.text)[1::2])
    codes = (block.partition("\n")[2].rstrip("\n") for block in blocks)
    return [code for code in codes if code.strip()]


def _prose(text: str) -> str:
    """Return a text without its code blocks."""
    return "".join(_parts(text)[::2])


def _parts(text: str) -> list[str]:
    """Split a text at its fences: prose, code, prose …; a fence without an end is prose."""
    parts = text.split(FENCE)
    return parts if len(parts) % 2 else [*parts[:-2], parts[-2] + FENCE + parts[-1]]


def _insights(messages: Sequence[Entry]) -> list[str]:
    """Return the questions and exclamations of the user."""
    texts = (_prose(each.text) for each in messages if each.source == USER)
    sentences = (found.strip() for text in texts for found in SENTENCE_END.split(text))
    return [
        sentence
        for sentence in sentences
        if sentence.endswith(("?", "!"))
        and MIN_INSIGHT_CHARACTERS < len(sentence) <= MAX_INSIGHT_CHARACTERS
    ]


def _latest(values: Sequence[str], count: int) -> list[str]:
    """Return the last values, each once."""
    return list(dict.fromkeys(reversed(values)))[:count][::-1]


def _fitting(blocks: Sequence[str]) -> list[str]:
    """Return the newest blocks that are together short enough for a summary."""
    kept: list[str] = []
    remaining = MAX_CODE_CHARACTERS
    for block in reversed(blocks):
        if len(block) <= remaining:
            kept.append(block)
            remaining -= len(block)
    return kept[::-1]


def _importance(conversation: Conversation) -> float:
    """Return 0.5 for a conversation without important messages, 1 where all are."""
    return round(0.5 + conversation.important / max(1, conversation.messages) / 2, 3)
