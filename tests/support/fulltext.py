"""Full-text searches in SQL itself, over a few texts."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.fulltext import full_text_query
from ctx_memory.records.types import Criteria, EntryKind, TextMode

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


async def search(
    connection: AsyncConnection,
    query: str,
    mode: str = "match",
    criteria: Criteria = THREAD,
    **options: Any,
) -> tuple[Sequence[Any], list[str]]:
    """Return the rows of a full-text query, and its warnings."""
    defaults: dict[str, Any] = {"language": "english", "limit": 100, "offset": 0}
    arguments = defaults | {"any_word": False} | options
    statement, warnings = full_text_query(
        query, TextMode(mode), criteria, connection.dialect.name, **arguments
    )
    return (await connection.execute(statement)).mappings().all(), warnings


async def ids(
    connection: AsyncConnection, query: str, mode: str = "match", **more: Any
) -> list[int]:
    rows, _ = await search(connection, query, mode, **more)
    return sorted(each["id"] for each in rows)
