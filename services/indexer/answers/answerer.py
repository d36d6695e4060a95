"""Answers questions about code: retrieve, pack, extract, and say so where nothing is found."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.core.blocking import COMPUTE
from services.core.vectors.protocol import VectorStore
from services.indexer.answers.confidence import NOT_FOUND, WEAK, confidence
from services.indexer.answers.extractive import NAME, extract
from services.indexer.answers.packing import Mode, pack
from services.indexer.answers.retrieval import Inquiry, Retriever, index_warnings
from services.indexer.answers.sources import Answer, Source, Span
from services.indexer.search.snippet import CHARACTERS_PER_TOKEN, token_estimate

NOT_FOUND_TEXT = "Not found in the code."
WEAK_WARNING = "the sources fit the question only weakly"


@dataclass(frozen=True)
class AnswerOptions:
    """How an answer is assembled."""

    budget_tokens: int
    mode: Mode = Mode.STITCH


class Answerer:
    """Answers questions from the spans that a retriever finds."""

    def __init__(self, retriever: Retriever, store: VectorStore) -> None:
        self._retriever = retriever
        self._store = store

    async def answer(self, inquiry: Inquiry, options: AnswerOptions) -> Answer:
        """Answer a question from its hits, with citations."""
        started = time.perf_counter()
        spans = await self._retriever.spans(inquiry)
        sure = await confidence(self._store, inquiry, spans)
        if sure < NOT_FOUND:
            answer = Answer(NOT_FOUND_TEXT, (), NAME)
        else:
            answer = await self._extract(inquiry, spans, options)
        weak = [WEAK_WARNING] if NOT_FOUND <= sure < WEAK else []
        return replace(
            answer,
            milliseconds=round((time.perf_counter() - started) * 1000),
            degraded=[*inquiry.degraded, *answer.degraded],
            warnings=[*index_warnings(inquiry.located), *weak, *answer.warnings],
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
