"""Full-text searches in SQL itself, over a few texts."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.records.fulltext.index import TextIndex
from ctx_memory.records.fulltext.query import TextMode, TextQuery

THREAD = Criteria(EntryKind.THREAD)
TEXTS = {
    1: "The server crashed with errors, see services/ctx_core/errors.py",
    2: "University servers were running universally",
    3: "Authentication of users; authenticating twice is wrong",
    4: "don't panic: 100% of the tests passed",
    5: "server server server error error",
    6: "Le café est fermé",
    7: "C++ and foo_bar::baz(qux) @ user@example.com",
}


def index_of(connection: AsyncConnection | AsyncEngine, language: str = "english") -> TextIndex:
    is_sqlite = connection.dialect.name == "sqlite"
    return TextIndex("sqlite" if is_sqlite else "postgresql", language)


async def search(
    connection: AsyncConnection,
    query: str,
    mode: str = "match",
    criteria: Criteria = THREAD,
    *,
    any_word: bool = False,
    language: str = "english",
    limit: int = 100,
    offset: int = 0,
) -> tuple[Sequence[Any], list[str]]:
    """Return the rows of a full-text query, and its warnings."""
    asked = TextQuery(query, TextMode(mode), any_word)
    statement, warnings = index_of(connection, language).statement(asked, criteria, limit, offset)
    return (await connection.execute(statement)).mappings().all(), warnings


async def ids(
    connection: AsyncConnection, query: str, mode: str = "match", **more: Any
) -> list[int]:
    rows, _ = await search(connection, query, mode, **more)
    return sorted(each["id"] for each in rows)
