"""Ranking, pages and criteria of full-text search, on both databases."""

from itertools import chain
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.records.filters import parse_filters
from ctx_memory.records.fulltext import postgresql, sqlite
from ctx_memory.records.tables import tags
from tests.support.fulltext import ids, search
from tests.support.tables import fill, row


async def test_better_hits_score_higher_and_come_first(connection: AsyncConnection) -> None:
    padding = "nothing to see here, move along please " * 5
    await fill(
        connection,
        [
            row(1, text="kernel panic kernel panic"),
            row(2, text=f"kernel {padding} panic"),
            *(row(n, text=padding) for n in range(3, 30)),
        ],
    )
    for any_word in (False, True):
        rows, _ = await search(connection, "kernel panic", any_word=any_word)
        assert [each["id"] for each in rows] == [1, 2]
        assert rows[0]["score"] > rows[1]["score"] > 0


async def test_a_rare_word_counts_more(connection: AsyncConnection) -> None:
    await fill(connection, [row(1, text="an unusual unicorn"), *_common(2, 2000)])
    await _analyze(connection)
    rows, _ = await search(connection, "server error unicorn", any_word=True, limit=5)
    assert rows[0]["id"] == 1
    assert len(rows) == 5


async def test_what_has_rare_words_is_found_among_very_many(connection: AsyncConnection) -> None:
    """Though it is the oldest, and more entries match than are ranked."""
    many = sqlite.MAX_RANKED + 500
    assert many > postgresql.MAX_RANKED
    await fill(connection, [*_rare(1, 20), *_common(21, many)])
    await _analyze(connection)
    rows, _ = await search(connection, "error zebra", any_word=True, limit=20)
    assert {each["id"] for each in rows} == set(range(1, 21))
    rows, _ = await search(connection, "server error", limit=3)
    assert [each["id"] for each in rows] == [20 + many, 19 + many, 18 + many]


def _rare(first: int, count: int) -> list[dict[str, Any]]:
    return [row(n, text="zebra crossing") for n in range(first, first + count)]


def _common(first: int, count: int) -> list[dict[str, Any]]:
    return [row(n, text="server error") for n in range(first, first + count)]


async def _analyze(connection: AsyncConnection) -> None:
    if connection.dialect.name == "postgresql":
        await connection.exec_driver_sql("ANALYZE entries")


async def test_pages_follow_each_other(connection: AsyncConnection) -> None:
    await fill(connection, _common(1, 30))
    for any_word in (False, True):
        pages = [
            [each["id"] for each in rows]
            for offset in (0, 10, 20, 30)
            for rows, _ in [
                await search(connection, "server", limit=10, offset=offset, any_word=any_word)
            ]
        ]
        assert list(chain(*pages)) == list(range(30, 0, -1))


async def test_criteria_apply_before_the_limit(connection: AsyncConnection) -> None:
    rows = [
        row(n, text="server error", thread=f"t{n % 4}", metadata={"status": f"S{n % 5}", "n": n})
        for n in range(1, 41)
    ]
    await fill(connection, [*rows, row(99, text="server error", kind="memory")])
    await connection.execute(insert(tags), [{"entry_id": n, "tag": "x"} for n in (3, 4)])

    def filtered(**raw: Any) -> Criteria:
        return Criteria(EntryKind.THREAD, metadata=parse_filters(None, [raw])[0])

    cases = [
        (Criteria(EntryKind.MEMORY), {99}),
        (Criteria(EntryKind.THREAD, threads=["t1"]), set(range(1, 41, 4))),
        (Criteria(EntryKind.THREAD, threads=["nobody"]), set()),
        (Criteria(EntryKind.THREAD, ids=[5, 6, 99]), {5, 6}),
        (Criteria(EntryKind.THREAD, tags=["x"]), {3, 4}),
        (Criteria(EntryKind.THREAD, until=rows[1]["created_at"]), {1, 2}),
        (filtered(key="status", value="s3"), set(range(3, 41, 5))),
        (filtered(key="n", operator="lte", value=7), set(range(1, 8))),
        (filtered(key="n", value=7), {7}),
    ]
    for criteria, right in cases:
        for any_word in (False, True):
            for query, mode in (("server error", "match"), ("NOT unicorn", "boolean")):
                found = await ids(
                    connection, query, mode, criteria=criteria, any_word=any_word, limit=40
                )
                assert set(found) == right, criteria
