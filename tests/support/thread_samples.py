"""Entries that the tests of searches find, and the keys of what they return."""

import base64
from typing import Any

IMAGE = {"data": base64.b64encode(b"picture").decode(), "mime_type": "image/jpeg", "position": 0}
HIT_KEYS = {
    "id",
    "thread_id",
    "source",
    "content_type",
    "text_content",
    "summary",
    "is_text_content_truncated",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
}
RANKED = ("semantic_search_context", "fts_search_context", "hybrid_search_context")
ALL = ("search_context", *RANKED)
RESULT_KEYS = {
    "search_context": {"results", "count", "total"},
    "semantic_search_context": {"results", "count", "query", "model"},
    "fts_search_context": {"results", "count", "query", "mode", "language", "fts_available"},
    "hybrid_search_context": {
        "results",
        "count",
        "query",
        "fusion_method",
        "search_modes_used",
        "fts_count",
        "semantic_count",
    },
}
SCORES = {
    "semantic_search_context": {"semantic_distance", "semantic_rank", "rerank_score"},
    "fts_search_context": {"fts_score", "fts_rank", "rerank_score"},
    "hybrid_search_context": {
        "rrf",
        "fts_rank",
        "semantic_rank",
        "fts_score",
        "semantic_distance",
        "rerank_score",
    },
}
LONG = "The retry budget of the payment queue was exhausted. " + "Nothing else happened. " * 120
ENTRIES: list[dict[str, Any]] = [
    {
        "text": "Retry the payment queue with exponential backoff and jitter",
        "metadata": {"status": "open", "priority": 9, "owner": {"name": "Ada"}},
        "tags": ["queue", "payments"],
    },
    {
        "text": "The payment queue drops messages when the broker restarts",
        "source": "agent",
        "metadata": {"status": "done", "priority": 3},
        "tags": ["queue"],
        "images": [IMAGE],
    },
    {"text": LONG, "metadata": {"status": "OPEN", "priority": 5}, "tags": ["incident"]},
    {"text": "Colours of the landing page follow the brand book", "source": "agent"},
]


def query_of(name: str, words: str = "payment queue") -> dict[str, Any]:
    return {} if name == "search_context" else {"query": words}


def sample_number(hit: dict[str, Any]) -> int:
    return next(
        n
        for n, entry in enumerate(ENTRIES)
        if entry["text"].startswith(hit["text_content"].removesuffix("..."))
    )
