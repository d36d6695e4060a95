"""Reports of a search: parts that failed, times, and the steps that it took in Qdrant."""

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from ctx_core.errors import CtxError
from ctx_core.vectors.queries import Condition, Filter, HasId, HasVector, Query

log = logging.getLogger(__name__)

SCORE_DIGITS = 6  # more are noise


def failure_message(error: Exception, part: str) -> str:
    """Log the failure of a part of a search, and return the warning for the caller.

    The message of an unexpected error goes to the log only.
    """
    if isinstance(error, CtxError):
        log.warning("%s: %s", part, error)
        return f"{part}: {error.message}"
    log.error("%s failed", part, exc_info=error)
    return f"{part}: failed unexpectedly; the server's log has the details"


def elapsed_ms(start: float) -> float:
    """Return the milliseconds since a value of `time.perf_counter()`."""
    return round((time.perf_counter() - start) * 1000, 2)


_steps: ContextVar[list[str] | None] = ContextVar("steps", default=None)


@contextlib.contextmanager
def noted_steps() -> Iterator[list[str]]:
    """Collect the steps of the searches in the block."""
    steps: list[str] = []
    token = _steps.set(steps)
    try:
        yield steps
    finally:
        _steps.reset(token)


def note_queries(collection: str, queries: Sequence[Query]) -> None:
    """Note queries that are sent to Qdrant; nothing where no plan was asked for."""
    steps = _steps.get()
    if steps is not None:
        steps += [_step(collection, query) for query in queries]


def _step(collection: str, query: Query) -> str:
    fields = list(dict.fromkeys(_fields(query.filter))) if query.filter else []
    skipped = f" OFFSET {query.offset}" if query.offset else ""
    where = f" FILTER {', '.join(fields)}" if fields else ""
    return f"Qdrant: SEARCH {collection} BY {query.using} LIMIT {query.limit}{skipped}{where}"


def _fields(condition: Condition) -> Iterator[str]:
    """Yield the names of the fields that a condition compares."""
    if isinstance(condition, HasId):
        yield f"id ({len(condition.ids)})"
    elif isinstance(condition, HasVector):
        yield f"vector {condition.name}"
    elif isinstance(condition, Filter):
        for each in (*condition.must, *condition.should, *condition.must_not):
            yield from _fields(each)
    else:
        yield condition.field
