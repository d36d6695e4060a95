"""How the database would answer a query."""

from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable


class Explain(Executable, ClauseElement):
    """EXPLAIN of a query, whose values stay parameters."""

    inherit_cache = False

    def __init__(self, query: Select[Any]) -> None:
        self.query = query


@compiles(Explain)
def _explain(element: Explain, compiler: Any, **options: Any) -> str:
    word = "EXPLAIN QUERY PLAN" if compiler.dialect.name == "sqlite" else "EXPLAIN"
    return f"{word} {compiler.process(element.query, **options)}"


async def plan(connection: AsyncConnection, query: Select[Any]) -> list[str]:
    """The steps, the outermost first; SQLite's rows end with theirs, PostgreSQL's are it."""
    return [str(row[-1]) for row in await connection.execute(Explain(query))]
