"""Answers questions about code: read sources, write or extract, say where nothing is found."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctx_core.blocking import COMPUTE
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.answers.confidence import NOT_FOUND, WEAK, confidence
from ctx_indexer.answers.deadline import Deadline
from ctx_indexer.answers.extractive import NAME, extract
from ctx_indexer.answers.inquiry import Inquiry
from ctx_indexer.answers.packing import Mode, pack
from ctx_indexer.answers.retrieval import Retriever, index_warnings
from ctx_indexer.answers.sources import Answer, Source, Span
from ctx_indexer.answers.writer import Report, Writer, WritingOptions
from ctx_indexer.search.snippet import CHARACTERS_PER_TOKEN, token_estimate

NOT_FOUND_TEXT = "Not found in the code."
WEAK_WARNING = "the sources fit the question only weakly"


@dataclass(frozen=True)
class AnswerOptions:
    """How an answer is assembled and written."""

    budget_tokens: int
    mode: Mode
    max_tokens: int
    temperature: float
    deadline: Deadline


class Answerer:
    """Answers questions from the hits of a search, with a decoder where there is one."""

    def __init__(
        self,
        retriever: Retriever,
        store: VectorStore,
        writer: Writer | None = None,
        *,
        by_meaning: bool = True,
        context_tokens: int = 8192,
        problem: str = "",
    ) -> None:
        """`context_tokens` is the most that a decoder reads.

        `by_meaning`: code is searched with the model that the confidence is calibrated for.
        `problem` is why a decoder that is configured is not there.
        """
        self._retriever = retriever
        self._store = store
        self._by_meaning = by_meaning
        self._writer = writer
        self._context_tokens = context_tokens
        self._degraded = [f"decoder: {problem}"] if problem else []

    async def answer(self, inquiry: Inquiry, options: AnswerOptions, report: Report) -> Answer:
        """Answer a question from its hits, with citations; sentences are reported as they come."""
        started = time.perf_counter()
        retrieved = await self._retriever.retrieve(inquiry)
        spans = retrieved.spans
        sure = await confidence(self._store, inquiry, spans, by_meaning=self._by_meaning)
        if sure < NOT_FOUND:
            answer = Answer(NOT_FOUND_TEXT, (), NAME)
        elif self._writer is None:
            answer = await self._extract(inquiry, spans, options)
        else:
            answer = await self._write(self._writer, inquiry, spans, options, report)
        weak = [WEAK_WARNING] if NOT_FOUND <= sure < WEAK else []
        return replace(
            answer,
            milliseconds=round((time.perf_counter() - started) * 1000),
            degraded=[
                *inquiry.degraded,
                *retrieved.degraded,
                *self._degraded,
                *answer.degraded,
            ],
            warnings=[*index_warnings(inquiry.located), *weak, *answer.warnings],
        )

    async def _write(
        self,
        writer: Writer,
        inquiry: Inquiry,
        spans: Sequence[Span],
        options: AnswerOptions,
        report: Report,
    ) -> Answer:
        """Write with the decoder; where no sentence of it holds, extract, and say why."""
        sizes = WritingOptions(
            options.budget_tokens,
            options.max_tokens,
            options.temperature,
            options.mode,
            options.deadline,
            self._context_tokens,
        )
        written = await writer.write(inquiry.query.text, spans, sizes, report)
        failed = [f"decoder: {written.failure}"] if written.failure else []
        left_out = (
            [f"{written.left_out} lines that address a model were left out of the sources"]
            if written.left_out
            else []
        )
        if written.sentences:
            return Answer(
                written.text,
                written.citations,
                writer.name,
                written.tokens,
                dropped=written.dropped,
                degraded=failed,
                warnings=left_out,
            )
        if written.nothing:
            return Answer(NOT_FOUND_TEXT, (), writer.name, written.tokens, warnings=left_out)
        reason = f"decoder: no sentence was supported by its source ({written.dropped} dropped)"
        extracted = await self._extract(inquiry, spans, options)
        return replace(
            extracted, dropped=written.dropped, degraded=failed or [reason], warnings=left_out
        )

    async def _extract(
        self, inquiry: Inquiry, spans: Sequence[Span], options: AnswerOptions
    ) -> Answer:
        characters = options.budget_tokens * CHARACTERS_PER_TOKEN
        sources = await COMPUTE.run(pack, spans, characters, options.mode)
        text, citations = await COMPUTE.run(extract, sources, inquiry.query.terms)
        if not citations:
            return Answer(NOT_FOUND_TEXT, (), NAME)
        return Answer(text, citations, NAME, context_tokens=_tokens(sources))


def _tokens(sources: Sequence[Source]) -> int:
    return sum(token_estimate(f"{source.label}\n{source.text}") for source in sources)
