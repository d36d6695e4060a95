"""Notes the steps that a search takes in Qdrant, where its plan was asked for."""

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

from ctx_core.vectors.queries import Condition, Filter, HasId, HasVector, Query

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
    vectors = ", ".join(prefetch.using for prefetch in query.prefetch)
    fields = list(dict.fromkeys(_fields(query.filter))) if query.filter else []
    skipped = f" OFFSET {query.offset}" if query.offset else ""
    where = f" FILTER {', '.join(fields)}" if fields else ""
    return f"Qdrant: SEARCH {collection} BY {vectors} LIMIT {query.limit}{skipped}{where}"


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
