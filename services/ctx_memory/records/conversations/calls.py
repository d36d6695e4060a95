"""Calls of vectors, relations and summaries, counted in SQL."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, func, insert, select

from ctx_core.clock import utc_now
from ctx_memory.records.database import Database
from ctx_memory.records.entry import moment
from ctx_memory.records.tables import calls


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
class CallTotals:
    """How many calls of a type there were, and their mean duration."""

    count: int
    mean_milliseconds: float


class CallRecords:
    """Counts calls. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, type_: str, seconds: float) -> None:
        """Count a call; a power cut may undo it, a crash does not."""
        values = {"type": type_, "at": moment(utc_now()), "milliseconds": seconds * 1000}
        async with self._database.writing("count a call", durable=False) as connection:
            await connection.execute(insert(calls).values(values))

    async def totals(self, since: datetime, until: datetime) -> dict[str, CallTotals]:
        """Return count and mean duration of each type of call between two times."""
        query = (
            select(calls.c.type, func.count(), func.avg(calls.c.milliseconds))
            .where(calls.c.at >= moment(since), calls.c.at <= moment(until))
            .group_by(calls.c.type)
        )
        async with self._database.reading("count calls") as connection:
            rows = await connection.execute(query)
            return {type_: CallTotals(count, float(mean)) for type_, count, mean in rows}

    async def purge(self, before: datetime) -> None:
        """Forget calls before a time."""
        async with self._database.writing("forget old calls") as connection:
            await connection.execute(delete(calls).where(calls.c.at < moment(before)))
