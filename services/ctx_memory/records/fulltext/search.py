"""Searches of entries by their words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctx_core.blocking import COMPUTE
from ctx_memory.records import reading
from ctx_memory.records.database import Database, Dialect
from ctx_memory.records.entry import Criteria, Entry
from ctx_memory.records.fulltext.highlight import Highlighter
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.records.fulltext.query import TextQuery


@dataclass(frozen=True)
class TextHit:
    """An entry that full-text search found; a higher score is better."""

    entry: Entry
    score: float
    highlighted: str | None = None


class TextSearch:
    """Searches texts. Every method is one transaction, and raises StorageFailed."""

    def __init__(self, database: Database, index: TextIndex) -> None:
        self._database = database
        self._index = index

    @property
    def dialect(self) -> Dialect:
        return self._index.dialect

    @property
    def language(self) -> str:
        """The language whose endings and stop words count."""
        return self._index.language

    async def find(
        self,
        query: TextQuery,
        criteria: Criteria,
        limit: int,
        offset: int = 0,
        *,
        highlight: bool = False,
    ) -> tuple[list[TextHit], list[str]]:
        """Return the best hits that meet the criteria, and warnings about the query."""
        statement, warnings = self._index.statement(query, criteria, limit, offset)
        async with self._database.reading("search by words") as connection:
            rows = (await connection.execute(statement)).mappings().all()
            found = await reading.with_tags(connection, rows)
        hits = [TextHit(entry, float(row["score"])) for entry, row in zip(found, rows, strict=True)]
        if highlight:
            hits = await COMPUTE.run(_highlighted, hits, self._index.highlighter(query))
        return hits, warnings

    async def rank(
        self, words: str, criteria: Criteria, limit: int
    ) -> tuple[list[tuple[int, float]], list[str]]:
        """Return (id, score) of the best entries with any of the words, and warnings."""
        query = TextQuery(words, any_word=True)
        statement, warnings = self._index.statement(query, criteria, limit)
        columns = statement.selected_columns
        scores = statement.with_only_columns(columns.id, columns.score, maintain_column_froms=True)
        async with self._database.reading("search by words") as connection:
            rows = await connection.execute(scores)
            return [(id_, float(score)) for id_, score in rows], warnings

    async def explain(
        self, query: TextQuery, criteria: Criteria, limit: int, offset: int
    ) -> list[str]:
        """Return the database's plan for `find` with these arguments."""
        statement, _ = self._index.statement(query, criteria, limit, offset)
        async with self._database.reading("explain a query") as connection:
            return await reading.query_plan(connection, statement)


def _highlighted(hits: Sequence[TextHit], marks: Highlighter | None) -> list[TextHit]:
    """Mark the query's words in each hit; for long texts this takes milliseconds."""
    if marks is None:
        return list(hits)
    return [replace(hit, highlighted=marks.passages(hit.entry.text)) for hit in hits]
