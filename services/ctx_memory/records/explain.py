"""Asks the database for the plan of a query."""

from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ClauseElement, Executable


class Explain(Executable, ClauseElement):
    """An EXPLAIN statement of a query, whose values stay bound parameters."""

    inherit_cache = False

    def __init__(self, query: Select[Any]) -> None:
        self.query = query


@compiles(Explain)
def _explain(element: Explain, compiler: Any, **options: Any) -> str:
    word = "EXPLAIN QUERY PLAN" if compiler.dialect.name == "sqlite" else "EXPLAIN"
    return f"{word} {compiler.process(element.query, **options)}"


async def query_plan(connection: AsyncConnection, query: Select[Any]) -> list[str]:
    """Return the steps of the plan: the last column of each row, on both databases."""
    return [str(row[-1]) for row in await connection.execute(Explain(query))]
