"""Writes answers with a decoder: sentences bound to the sources, each checked as it comes."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from ctx_core.blocking import COMPUTE
from ctx_core.errors import DecoderFailed
from ctx_core.llm.protocol import Generation, StreamingDecoder
from ctx_indexer.answers.check import CheckedSentence, check, split_sentences
from ctx_indexer.answers.deadline import Deadline
from ctx_indexer.answers.packing import Mode, pack
from ctx_indexer.answers.prompt import (
    MAX_SENTENCES,
    NOTHING,
    SYSTEM,
    answer_grammar,
    prompt,
)
from ctx_indexer.answers.sources import Citation, Source, Span
from ctx_indexer.search.snippet import CHARACTERS_PER_TOKEN

DEFAULT_TOKENS = 256  # of an answer: six sentences
PROMPT_TOKENS = 220  # of the instructions around the sources
FITTING_ROUNDS = 3  # of packing, until the sources fit by the model's own count

Report = Callable[[str], Awaitable[None]]
"""Takes a sentence as soon as it is checked."""


@dataclass(frozen=True)
class WritingOptions:
    """The sizes of a generated answer. Waiting for a turn counts for its deadline."""

    budget_tokens: int
    max_tokens: int
    temperature: float
    mode: Mode
    deadline: Deadline
    context_tokens: int


@dataclass
class Written:
    """The text of a decoder: the sentences that hold, and why there are not more."""

    sources: Sequence[Source]
    tokens: int
    sentences: list[CheckedSentence] = field(default_factory=list)
    dropped: int = 0
    nothing: bool = False
    left_out: int = 0
    failure: str = ""

    @property
    def text(self) -> str:
        return "\n".join(each.cited for each in self.sentences)

    @property
    def citations(self) -> list[Citation]:
        numbers = {number for each in self.sentences for number in each.sources}
        return [
            Citation(source, source.span.first, source.span.last)
            for source in self.sources
            if source.number in numbers
        ]


class Writer:
    """Writes with one decoder."""

    def __init__(self, decoder: StreamingDecoder) -> None:
        self._decoder = decoder

    @property
    def name(self) -> str:
        return self._decoder.runtime

    async def write(
        self, question: str, spans: Sequence[Span], options: WritingOptions, report: Report
    ) -> Written:
        """Write an answer; the result names a failure or a deadline that passed."""
        written = Written((), 0)
        try:
            async with asyncio.timeout(options.deadline.left):
                sources, tokens = await self._fitting(spans, options)
                written = Written(sources, tokens)
                await self._generate(question, written, options, report)
        except TimeoutError:
            seconds = options.deadline.seconds
            written.failure = f"{self._decoder.name} did not finish within {seconds:g} s"
        except DecoderFailed as error:
            written.failure = error.message
        return written

    async def _fitting(
        self, spans: Sequence[Span], options: WritingOptions
    ) -> tuple[list[Source], int]:
        """Pack sources that fit into the budget and the context, by the model's own tokenizer."""
        room = options.context_tokens - options.max_tokens - PROMPT_TOKENS
        budget = max(min(options.budget_tokens, room), 1)
        characters = budget * CHARACTERS_PER_TOKEN
        for _ in range(FITTING_ROUNDS):
            sources = await COMPUTE.run(pack, spans, characters, options.mode)
            tokens = await self._count(sources)
            if tokens <= budget:
                break
            characters = int(characters * budget / tokens * 0.95)
        while len(sources) > 1 and tokens > budget:
            sources = sources[:-1]
            tokens = await self._count(sources)
        return sources, tokens

    async def _count(self, sources: Sequence[Source]) -> int:
        return await self._decoder.count_tokens("\n".join(f"{s.label}\n{s.text}" for s in sources))

    async def _generate(
        self, question: str, written: Written, options: WritingOptions, report: Report
    ) -> None:
        text, written.left_out = prompt(written.sources, question)
        request = Generation(
            text,
            options.max_tokens,
            SYSTEM,
            answer_grammar(written.sources),
            options.temperature,
        )
        async with contextlib.aclosing(_lines(self._decoder.stream(request))) as lines:
            async for line in lines:
                for sentence in split_sentences(line):
                    await _add(written, sentence, report)
                if written.nothing or len(written.sentences) >= MAX_SENTENCES:
                    return


async def _add(written: Written, sentence: str, report: Report) -> None:
    if sentence.rstrip(".") == NOTHING.rstrip("."):
        written.nothing = not written.sentences
        return
    found = check(sentence, written.sources)
    if found is None:
        written.dropped += 1
    elif found.text not in {each.text for each in written.sentences}:
        written.sentences.append(found)
        await report(found.cited)


async def _lines(texts: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Yield whole lines of a stream; the last one as it is. Thoughts before them are dropped."""
    pending = ""
    async with contextlib.aclosing(texts) as stream:
        async for text in stream:
            pending += text
            if "<think>" in pending:
                if "</think>" not in pending:
                    continue
                before, _, after = pending.partition("<think>")
                pending = before + after.partition("</think>")[2]
            while "\n" in pending:
                line, _, pending = pending.partition("\n")
                yield line
    if "<think>" not in pending:
        yield pending
