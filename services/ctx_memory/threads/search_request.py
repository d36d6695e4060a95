"""What a caller of the four thread searches asks for besides the query, and its limits."""

from dataclasses import dataclass

from ctx_core.errors import InvalidInput
from ctx_memory.search.filters import EntryFilters, check_text
from ctx_memory.threads.requests import EMPTY
from ctx_memory.threads.responses import ClampedLimit

MAX_LIMIT = 100
# A ranked search ranks everything before the offset too; beyond this, filters do better.
MAX_RANKED_OFFSET = 10_000
MAX_QUERY_LENGTH = 5_000  # a question, not a document: full-text search looks up each word


@dataclass(frozen=True)
class SearchRequest:
    """Filters, page and options that all thread searches share."""

    filters: EntryFilters
    limit: int
    offset: int = 0
    include_images: bool = False
    explain: bool = False


def clamp_limit(limit: int) -> tuple[int, ClampedLimit | None]:
    """Return the limit, at most MAX_LIMIT, and how it was lowered, None where it was not."""
    if limit <= MAX_LIMIT:
        return limit, None
    return MAX_LIMIT, {"requested": limit, "applied": MAX_LIMIT}


def check_query(query: str, offset: int) -> str:
    """Return the query of a ranked search. Raises InvalidInput, also for too large an offset."""
    if not query.strip():
        raise InvalidInput("query", f"{EMPTY}: give words or a question")
    if offset > MAX_RANKED_OFFSET:
        raise InvalidInput(
            "offset",
            f"must not exceed {MAX_RANKED_OFFSET} in a ranked search; narrow it with filters, or "
            "page through search_context",
        )
    return check_text("query", query)
