"""`context_search`: code and memories in one list, on one scale."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from ctx_core.memories.reader import MemoryReader, ReadMemories
from ctx_core.memories.results import MemoryHit
from ctx_core.serving.flat_arguments import flat_arguments
from ctx_core.serving.service import Effect, Tool
from ctx_indexer.search.calibration import confidences
from ctx_indexer.tools.code_search import CodeSearch, FoundCode
from ctx_indexer.tools.context import IndexerContext
from ctx_indexer.tools.foreign_arguments import adapt_search
from ctx_indexer.tools.responses import CodeHit, RepoSearchResult
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import MAX_LIMIT, SearchArguments
from ctx_indexer.tools.search_result import render_repo_search

CODE, MEMORY = "code", "memory"
MAX_WEIGHT = 10.0
SHOWN_CHARACTERS = 400  # of a memory in text; all of it is in the result
DIGITS = 3


class SourceLimits(BaseModel):
    """How many results each source may have."""

    model_config = ConfigDict(extra="forbid")

    code: int | None = Field(None, ge=0, le=MAX_LIMIT)
    memory: int | None = Field(None, ge=0, le=MAX_LIMIT)


class CodeContext(CodeHit):
    """A definition among the results."""

    source: str


class MemoryContext(TypedDict):
    """A memory among the results."""

    source: str
    score: float
    id: str
    information: str
    metadata: dict[str, Any]


class ContextResult(TypedDict):
    """The result of `context_search`; scores are how surely each result fits, times its weight."""

    ok: bool
    results: list[CodeContext | MemoryContext]
    total: int
    sources: list[str]
    query: str | list[str]
    memory_note: NotRequired[str]
    degraded: NotRequired[list[str]]
    warnings: NotRequired[list[str]]


def context_tools(
    context: IndexerContext, code: CodeSearch, memories: MemoryReader
) -> Sequence[Tool]:
    """Build `context_search`."""

    @flat_arguments
    async def context_search(
        asked: SearchArguments,
        include_memories: Annotated[bool, Field(description="Search memories too.")] = True,
        memory_weight: Annotated[
            float, Field(ge=0, le=MAX_WEIGHT, description="Factor of the scores of memories.")
        ] = 1.0,
        per_source_limits: Annotated[
            SourceLimits | None, Field(description="Such as {code: 8, memory: 4}.")
        ] = None,
    ) -> ContextResult:
        """Find code and memories, the surest first. It has the parameters of `repo_search` too."""
        limits = per_source_limits or SourceLimits()
        wanted = asked.limit if limits.memory is None else limits.memory
        asks_memories = include_memories and wanted > 0 and memory_weight > 0
        view = await code.view(asked)
        found, read = await asyncio.gather(
            code.find(asked, view), _memories(memories, asked, wanted if asks_memories else 0)
        )
        shown = code.show(asked, found)
        chunk_count = await context.vectors.count(view.collection)
        hits = _code_hits(shown, found, asked.offset, chunk_count)
        if limits.code is not None:
            hits = hits[: limits.code]
        noted = [_memory_hit(hit, memory_weight) for hit in read.hits]
        merged: list[CodeContext | MemoryContext] = [*hits, *noted]
        merged.sort(key=lambda each: -each["score"])
        merged = merged[: asked.limit]
        return _result(asked, shown, merged, read, len(noted))

    return [
        Tool(
            context_search,
            "Search code and memories",
            TOOLSET,
            Effect.READS,
            render=render_context,
            extends="repo_search",
            adapt=adapt_search,
        )
    ]


async def _memories(reader: MemoryReader, asked: SearchArguments, limit: int) -> ReadMemories:
    if not limit:
        return ReadMemories()
    query = asked.query if isinstance(asked.query, str) else " ".join(asked.query)
    return await reader.find(query, limit)


def _code_hits(
    shown: RepoSearchResult, found: FoundCode, offset: int, chunk_count: int
) -> list[CodeContext]:
    """Score code by how surely it fits; the order of the search stays."""
    ranked = [hit for hit, _ in found.located.hits]
    sure = confidences(ranked, found.query, chunk_count)[offset:]
    hits: list[CodeContext] = []
    least = 1.0
    for hit, each in zip(shown["results"], sure, strict=False):
        least = min(least, round(each, DIGITS))
        hits.append({**hit, "source": CODE, "score": least})
    return hits


def _memory_hit(hit: MemoryHit, weight: float) -> MemoryContext:
    return {
        "source": MEMORY,
        "score": round(hit["score"] * weight, DIGITS),
        "id": hit["id"],
        "information": hit["information"],
        "metadata": hit["metadata"],
    }


def _result(
    asked: SearchArguments,
    shown: RepoSearchResult,
    merged: list[CodeContext | MemoryContext],
    read: ReadMemories,
    noted: int,
) -> ContextResult:
    result: ContextResult = {
        "ok": True,
        "results": merged,
        "total": shown["total"] + noted,
        "sources": list(dict.fromkeys(each["source"] for each in merged)),
        "query": asked.query,
    }
    if read.problems:
        result["memory_note"] = "; ".join(read.problems)
    if "degraded" in shown:
        result["degraded"] = shown["degraded"]
    if "warnings" in shown:
        result["warnings"] = shown["warnings"]
    return result


def render_context(result: Mapping[str, Any]) -> str:
    """Write results as text: code as `repo_search` does, memories by their id and words."""
    parts = []
    for hit in result["results"]:
        if hit["source"] == CODE:
            alone = {"results": [hit], "total": 1}
            parts.append(f"{hit['score']} {render_repo_search(alone)}")
        else:
            text = " ".join(hit["information"].split())
            cut = f"{text[:SHOWN_CHARACTERS]}…" if len(text) > SHOWN_CHARACTERS else text
            parts.append(f"{hit['score']} memory {hit['id']}\n{cut}")
    note = [result["memory_note"]] if "memory_note" in result else []
    more = [*note, *result.get("degraded", []), *result.get("warnings", [])]
    return "\n".join([*(parts or ["Nothing found."]), *more])
