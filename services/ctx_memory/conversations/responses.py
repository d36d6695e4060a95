"""Results of the conversations dialect, in the fields of its contract."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from ctx_memory.conversations.requests import Importance, level
from ctx_memory.records.conversations.summaries import Summary
from ctx_memory.records.entry import Entry

Body = dict[str, Any]


class Message(TypedDict):
    """A message of a context."""

    role: str
    content: str
    timestamp: int
    importance: Importance
    tags: list[str]


class ContextSummary(TypedDict):
    """The summary of a context; `summaryBy` is the decoder's name, or `extractive`."""

    contextId: str
    summary: str
    lastUpdated: int
    messageCount: int
    codeBlocks: list[str]
    importanceScore: float
    relatedContexts: list[str]
    keyInsights: list[str]
    version: int
    summaryBy: str


class HierarchicalSummary(TypedDict):
    """The summary of a parent from its children."""

    parentContextId: str
    childContextIds: list[str]
    summary: str
    lastUpdated: int
    version: int
    summaryBy: str


class MetaSummary(TypedDict):
    """The summary of all hierarchies."""

    id: str
    summary: str
    contextIds: list[str]
    lastUpdated: int
    version: int
    summaryBy: str


class SimilarContext(TypedDict):
    """A context and how similar it is, from 0 to 1."""

    contextId: str
    similarity: float


class RetrievedContext(TypedDict):
    """A page of messages, oldest first, and the summary; `nextCursor` leads to older messages."""

    contextId: str
    messages: list[Message]
    summary: ContextSummary | None
    totalMessages: int
    nextCursor: NotRequired[int]


def message(entry: Entry) -> Message:
    return {
        "role": str(entry.source),
        "content": entry.text,
        "timestamp": milliseconds(entry.created_at),
        "importance": level(entry.importance),
        "tags": list(entry.tags),
    }


def context_summary(summary: Summary, related: Sequence[str]) -> ContextSummary:
    details = summary.details
    return {
        "contextId": summary.id,
        "summary": summary.text,
        "lastUpdated": milliseconds(summary.updated_at),
        "messageCount": int(details.get("messageCount", 0)),
        "codeBlocks": cast(list[str], details.get("codeBlocks", [])),
        "importanceScore": float(details.get("importanceScore", 0.5)),
        "relatedContexts": list(related),
        "keyInsights": cast(list[str], details.get("keyInsights", [])),
        "version": summary.version,
        "summaryBy": summary.written_by,
    }


def hierarchical_summary(summary: Summary) -> HierarchicalSummary:
    return {
        "parentContextId": summary.id,
        "childContextIds": cast(list[str], summary.details.get("childContextIds", [])),
        "summary": summary.text,
        "lastUpdated": milliseconds(summary.updated_at),
        "version": summary.version,
        "summaryBy": summary.written_by,
    }


def meta_summary(summary: Summary) -> MetaSummary:
    return {
        "id": summary.id,
        "summary": summary.text,
        "contextIds": cast(list[str], summary.details.get("contextIds", [])),
        "lastUpdated": milliseconds(summary.updated_at),
        "version": summary.version,
        "summaryBy": summary.written_by,
    }


def milliseconds(moment: str) -> int:
    """Return a stored time as milliseconds since 1970."""
    return int(datetime.fromisoformat(moment).timestamp() * 1000)
