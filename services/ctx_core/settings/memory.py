"""Settings of the memory server: metadata, the search of threads, images, summaries, knowledge."""

from typing import Literal

from pydantic import BaseModel

from ctx_core.settings.fields import CommaList, env

# The languages that PostgreSQL stems; SQLite stems English and compares the others as written.
Language = Literal[
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "simple",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
]

# The fields that the contract of the thread tools promises to index.
DEFAULT_INDEXED_FIELDS = (
    "status",
    "agent_name",
    "task_name",
    "project",
    "report_type",
    "references",
    "technologies",
)


class MemorySettings(BaseModel):
    """How entries are searched, stored and summarised; who writes and shares knowledge."""

    metadata_indexed_fields: CommaList = env(
        "METADATA_INDEXED_FIELDS",
        DEFAULT_INDEXED_FIELDS,
        "Metadata fields that filters find quickly; nested ones with dots, such as "
        "`references.task`.",
    )

    enable_fts: bool = env(
        "ENABLE_FTS", True, "Offer full-text search of thread entries, alone and in hybrid search."
    )
    enable_semantic_search: bool = env(
        "ENABLE_SEMANTIC_SEARCH",
        True,
        "Offer search of thread entries by meaning, alone and in hybrid search. Off, vectors are "
        "still written, so that switching it on needs no rebuild.",
    )
    enable_hybrid_search: bool = env(
        "ENABLE_HYBRID_SEARCH",
        True,
        "Offer hybrid search of thread entries, by the kinds of search that are on.",
    )
    fts_language: Language = env(
        "FTS_LANGUAGE",
        "english",
        "Language of full-text search. PostgreSQL stems all of them, SQLite English; `simple` "
        "stems nothing.",
    )
    search_truncation_length: int = env(
        "SEARCH_TRUNCATION_LENGTH",
        300,
        "Characters of an entry's text that a search shows; the cut is at a word.",
        ge=20,
    )
    hybrid_rrf_k: int = env(
        "HYBRID_RRF_K",
        60,
        "Smoothing of reciprocal rank fusion where a hybrid search names none.",
        ge=1,
        le=1000,
    )
    enable_reranking: bool = env(
        "ENABLE_RERANKING",
        True,
        "Let RERANK_MODEL, where it is set, order the best results of a thread search.",
    )
    redact_stored: bool = env(
        "CTX_REDACT_STORED",
        False,
        "Redact what looks like a secret in memories and thread entries before it is stored. "
        "Unset: it is kept, and the result of the call warns.",
    )
    max_image_size_mb: float = env(
        "MAX_IMAGE_SIZE_MB",
        10.0,
        "Largest image of an entry; all of one entry may have ten times as much. Where "
        "CTX_MAX_BODY_BYTES is set, the request must fit it too.",
        gt=0,
    )
    enable_summary_generation: bool = env(
        "ENABLE_SUMMARY_GENERATION",
        True,
        "Summarise long thread entries in the background: by the configured decoder, or by the "
        "best sentences where there is none.",
    )
    summary_max_tokens: int = env(
        "SUMMARY_MAX_TOKENS", 2000, "Longest summary, in tokens.", ge=16, le=32_000
    )
    mcp_caller: str | None = env(
        "MCP_CALLER",
        None,
        "Author of what is written, such as `mcp:claude-code`. Unset: the client's own name.",
    )
    no_auto_init: bool = env(
        "CTX_NO_AUTO_INIT", False, "Never create a knowledge folder; refuse the write instead."
    )
    knowledge_push_on_stop: bool = env(
        "CTX_KNOWLEDGE_PUSH_ON_STOP",
        True,
        "When the server stops, push the knowledge that was written in this run.",
    )
