"""`context_answer`: a short answer from the code, each line with its source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.errors import InvalidInput
from ctx_core.serving import progress
from ctx_core.serving.flat_arguments import flat_arguments
from ctx_core.serving.service import Effect, Reach, Tool
from ctx_indexer.answers.answerer import Answerer, AnswerOptions
from ctx_indexer.answers.deadline import Deadline
from ctx_indexer.answers.expansion import MAX_NEW, Expander, Expansion
from ctx_indexer.answers.inquiry import Inquiry
from ctx_indexer.answers.packing import Mode
from ctx_indexer.answers.sources import Answer, Citation
from ctx_indexer.answers.writer import DEFAULT_TOKENS
from ctx_indexer.search.query import merge_queries, parse_queries
from ctx_indexer.tools.code_search import CodeSearch, FoundCode
from ctx_indexer.tools.foreign_arguments import adapt_search
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import SearchArguments, Text

DIGITS = 3  # of a relevance
MAX_BUDGET = 32_000  # tokens; more than models of this size read well
MIN_BUDGET = 100
MAX_GENERATED = 2_000  # tokens; an answer has six sentences at most
MAX_QUERIES = 8  # of one call in mode pack: each is answered by itself


class CitationRow(TypedDict):
    """A source of an answer, by the number that stands in it."""

    id: int
    path: str
    start_line: int
    end_line: int
    symbol: str
    relevance: float
    snippet: NotRequired[str]


class AnswerBody(TypedDict):
    """One answer and its citations."""

    answer: str
    citations: list[CitationRow]


class AnswerResult(TypedDict):
    """The result of `context_answer`.

    `answers_by_query` has an answer for each of several queries in mode pack.
    """

    ok: bool
    answer: str
    citations: list[CitationRow]
    query: list[str]
    used_context_tokens: int
    generation_time_ms: int
    decoder_used: str
    dropped_sentences: NotRequired[int]
    answers_by_query: NotRequired[dict[str, AnswerBody]]
    degraded: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


class ExpandResult(TypedDict):
    """The result of `expand_query`."""

    ok: bool
    original_query: str | list[str]
    alternates: list[str]
    total_queries: int
    decoder_used: str
    degraded: NotRequired[list[str]]


@dataclass(frozen=True)
class AnswerParts:
    """The parts that make answers; `budget` is for a call which names none.

    `decoder_seconds` limit all texts of the decoder in one call; `seconds` are the deadline of the
    call: that of other tools, and the decoder's on top.
    """

    answerer: Answerer
    expander: Expander
    budget: int
    decoder_seconds: float
    seconds: float


def answer_tools(code: CodeSearch, parts: AnswerParts) -> Sequence[Tool]:
    """Build the tools that answer questions and reword queries."""

    @flat_arguments
    async def context_answer(
        asked: SearchArguments,
        budget_tokens: Annotated[
            int | None, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Tokens of sources.")
        ] = None,
        max_tokens: Annotated[
            int, Field(ge=16, le=MAX_GENERATED, description="Tokens of a generated answer.")
        ] = DEFAULT_TOKENS,
        temperature: Annotated[float, Field(ge=0, le=2)] = 0.3,
        mode: Annotated[
            Mode, Field(description="stitch: whole definitions; pack: best lines, for each query.")
        ] = Mode.STITCH,
        expand: Annotated[bool, Field(description="Search other wordings too.")] = False,
    ) -> AnswerResult:
        """Answer a question from the code; each line names its source, path and lines."""
        deadline = Deadline(parts.decoder_seconds)
        budget = budget_tokens or parts.budget
        options = AnswerOptions(budget, mode, max_tokens, temperature, deadline)
        texts = [asked.query] if isinstance(asked.query, str) else list(asked.query)
        each_alone = mode is Mode.PACK and len(texts) > 1
        if each_alone:
            texts = texts[:MAX_QUERIES]
            share = max(options.budget_tokens // len(texts), MIN_BUDGET)
            options = replace(options, budget_tokens=share)
        view = await code.view(asked)
        answers = []
        for given in [[text] for text in texts] if each_alone else [texts]:
            expansion = await parts.expander.expand(given, MAX_NEW if expand else 0, deadline)
            found = await code.find(replace(asked, query=[*given, *expansion.alternates]), view)
            inquiry = _inquiry(found, given, expansion)
            answers.append(await parts.answerer.answer(inquiry, options, _report))
        return _result(texts, answers, with_snippets=asked.include_snippet)

    async def expand_query(
        query: Annotated[Text | list[Text], Field(description="What to reword.")],
        max_new: Annotated[int, Field(ge=0, description="At most 2 are written.")] = MAX_NEW,
    ) -> ExpandResult:
        """Reword a code search query; without a model, by suffixes."""
        given = [query] if isinstance(query, str) else list(query)
        if not any(each.strip() for each in given):
            raise InvalidInput("query", "Query cannot be empty")
        deadline = Deadline(parts.decoder_seconds)
        expansion = await parts.expander.expand(given, min(max_new, MAX_NEW), deadline)
        result: ExpandResult = {
            "ok": True,
            "original_query": query,
            "alternates": list(expansion.alternates),
            "total_queries": len(given) + len(expansion.alternates),
            "decoder_used": expansion.decoder,
        }
        if expansion.failure:
            result["degraded"] = [f"decoder: {expansion.failure}"]
        return result

    return [
        Tool(
            context_answer,
            "Answer from the code",
            TOOLSET,
            Effect.READS,
            timeout_seconds=parts.seconds,
            render=render_answer,
            adapt=adapt_search,
            extends="repo_search",
        ),
        Tool(
            expand_query,
            "Reword a query",
            TOOLSET,
            Effect.READS,
            timeout_seconds=parts.seconds,
            reach=Reach.NOTHING,
        ),
    ]


async def _report(sentence: str) -> None:
    """Send a sentence to the client as soon as it is checked."""
    await progress.report(0, None, sentence)


def _inquiry(found: FoundCode, given: Sequence[str], expansion: Expansion) -> Inquiry:
    """Return a question with its hits; other wordings found more hits, but ask nothing."""
    failed = [f"expand: {expansion.failure}"] if expansion.failure else []
    degraded = [*found.result.degraded, *failed]
    query = merge_queries(parse_queries(list(given)))
    return Inquiry(found.view, query, found.located, degraded)


def _result(texts: list[str], parts: Sequence[Answer], *, with_snippets: bool) -> AnswerResult:
    first = parts[0]
    result: AnswerResult = {
        "ok": True,
        "answer": first.text,
        "citations": _citations(first, with_snippets),
        "query": texts,
        "used_context_tokens": sum(each.context_tokens for each in parts),
        "generation_time_ms": sum(each.milliseconds for each in parts),
        "decoder_used": first.decoder,
    }
    if dropped := sum(each.dropped for each in parts):
        result["dropped_sentences"] = dropped
    if len(parts) > 1:
        result["answers_by_query"] = {
            text: {"answer": each.text, "citations": _citations(each, with_snippets)}
            for text, each in zip(texts, parts, strict=True)
        }
    if degraded := list(dict.fromkeys(reason for each in parts for reason in each.degraded)):
        result["degraded"] = degraded
    if warnings := list(dict.fromkeys(text for each in parts for text in each.warnings)):
        result["warnings"] = warnings
    return result


def _citations(answer: Answer, with_snippets: bool) -> list[CitationRow]:
    return [_citation(each, with_snippets) for each in answer.citations]


def _citation(citation: Citation, with_snippet: bool) -> CitationRow:
    span = citation.source.span
    row: CitationRow = {
        "id": citation.source.number,
        "path": span.path,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        "symbol": span.definition.symbol,
        "relevance": round(span.relevance, DIGITS),
    }
    if with_snippet:
        row["snippet"] = citation.snippet
    return row


# --- text ----------------------------------------------------------------------------------


def render_answer(result: Mapping[str, Any]) -> str:
    """Write an answer as text: its lines, then `[1] path:start-end` of each source."""
    by_query = result.get("answers_by_query")
    parts = (
        [f"{query}\n{_body(body)}" for query, body in by_query.items()]
        if by_query
        else [_body(result)]
    )
    return "\n".join([*parts, *result.get("degraded", []), *result.get("warnings", [])])


def _body(body: Mapping[str, Any]) -> str:
    rows = [
        f"[{each['id']}] {each['path']}:{each['start_line']}-{each['end_line']}"
        for each in body["citations"]
    ]
    return "\n".join([body["answer"], *rows])
