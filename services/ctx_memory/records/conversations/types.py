"""Types of conversations in SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ctx_memory.records.entry import Entry

HIGH_IMPORTANCE = 0.75  # from here on a message counts as important
SUMMARY_SOURCE = "summary"  # the source of the entry that makes a summary searchable


class RelationType(StrEnum):
    """How one conversation relates to another; a parent's inverse is a child."""

    SIMILAR = "similar"
    CONTINUES = "continues"
    REFERENCES = "references"
    PARENT = "parent"
    CHILD = "child"

    @property
    def inverse(self) -> "RelationType | None":
        """The type of the relation in the other direction, where there always is one."""
        return {
            RelationType.PARENT: RelationType.CHILD,
            RelationType.CHILD: RelationType.PARENT,
        }.get(self)


class Direction(StrEnum):
    """Which relations of a conversation are meant."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


class SummaryLevel(StrEnum):
    """The extent of a summary: one conversation, a parent's children, or all parents."""

    CONVERSATION = "context"
    HIERARCHY = "hierarchy"
    META = "meta"


class CallType(StrEnum):
    """The calls that are counted."""

    VECTOR_DB_ADD = "vector_db_add"
    VECTOR_DB_SEARCH = "vector_db_search"
    VECTOR_DB_DELETE = "vector_db_delete"
    GRAPH_DB_ADD = "graph_db_add"
    GRAPH_DB_SEARCH = "graph_db_search"
    GRAPH_DB_DELETE = "graph_db_delete"
    LLM_SUMMARIZE = "llm_summarize"
    LLM_HIERARCHICAL_SUMMARIZE = "llm_hierarchical_summarize"
    LLM_META_SUMMARIZE = "llm_meta_summarize"


@dataclass(frozen=True)
class MessageDraft:
    """A message to store; `tokens` is an estimate of its length."""

    conversation: str
    role: str
    text: str
    importance: float
    tags: Sequence[str] = ()
    tokens: int = 0


@dataclass(frozen=True)
class Conversation:
    """A conversation and its counters; `fresh_*` count messages after its summary."""

    id: str
    messages: int
    important: int
    fresh_messages: int
    fresh_tokens: int
    fresh_important: int
    summarised_through: int
    updated_at: str


@dataclass(frozen=True)
class MessagePage:
    """Messages of a conversation, oldest first; `older_before` is None on the last page."""

    messages: Sequence[Entry]
    total: int
    older_before: int | None


@dataclass(frozen=True)
class SummaryDraft:
    """A summary to store."""

    text: str
    written_by: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Coverage:
    """The messages that a summary adds: after the id `after`, up to `through`, with counts."""

    after: int
    through: int
    messages: int
    tokens: int
    important: int


@dataclass(frozen=True)
class Summary:
    """A stored summary."""

    level: SummaryLevel
    id: str
    text: str
    written_by: str
    version: int
    updated_at: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class SummaryThresholds:
    """How much must be added to a conversation before it is summarised again."""

    messages: int
    tokens: int
    important: int

    def are_met_by(self, conversation: Conversation) -> bool:
        return (
            conversation.fresh_messages >= self.messages
            or conversation.fresh_tokens >= self.tokens
            or conversation.fresh_important >= self.important
        )


@dataclass(frozen=True)
class Relation:
    """A directed, weighted relation of two conversations."""

    source: str
    target: str
    type: RelationType
    weight: float
    is_automatic: bool = False


@dataclass(frozen=True)
class CallTotals:
    """How many calls of a type there were, and their mean duration."""

    count: int
    mean_milliseconds: float


@dataclass(frozen=True)
class ImportedConversation:
    """A conversation of another system: its summary without its messages."""

    id: str
    summary: SummaryDraft
    version: int
    messages: int
    updated_at: str


@dataclass(frozen=True)
class ImportedRollup:
    """A summary of summaries of another system."""

    level: SummaryLevel
    id: str
    summary: SummaryDraft
    version: int
    updated_at: str


@dataclass(frozen=True)
class ImportedFolder:
    """The content of a folder of another system; `skipped` counts unreadable files."""

    conversations: Sequence[ImportedConversation] = ()
    rollups: Sequence[ImportedRollup] = ()
    relations: Sequence[Relation] = ()
    skipped: int = 0
