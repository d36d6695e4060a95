"""Indexes on metadata serve the filters; nothing in a filter is read as SQL."""

import unicodedata
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ctx_core.errors import SettingsInvalid
from ctx_memory.records.entry import ContentType, Criteria, EntryKind
from ctx_memory.records.filters import parse_filters, where
from ctx_memory.records.filters.indexes import index_metadata, parse_fields
from ctx_memory.records.filters.postgresql import CASEFOLD_SINCE
from ctx_memory.records.folding import NOT_FOLDED, fold
from ctx_memory.records.tables import entries, tags
from tests.support.tables import bare_tables, fill, found, plan, row

FIELDS = (
    *("status", "agent_name", "project", "priority:integer", "done:boolean", "build.name"),
    *("references", "technologies"),
)
MANY = 4000  # enough that a database prefers an index to reading everything


@pytest.fixture
async def engine(records_url: str) -> AsyncIterator[AsyncEngine]:
    async with bare_tables(records_url) as opened:
        async with opened.begin() as connection:
            await index_metadata(connection, opened.dialect.name, FIELDS)
        yield opened


@pytest.fixture
async def connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    async with engine.connect() as opened:
        yield opened


def criteria(**raw: Any) -> Criteria:
    filters, errors = parse_filters(None, [raw])
    assert errors == []
    return Criteria(EntryKind.THREAD, metadata=filters)


async def index_names(connection: AsyncConnection) -> set[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'index'"
        if connection.dialect.name == "sqlite"
        else "SELECT indexname FROM pg_indexes"
    )
    names = (await connection.execute(text(query))).scalars()
    return {name for name in names if name.startswith("metadata_")}


# --- indexes -------------------------------------------------------------------------------


def document(number: int) -> dict[str, Any]:
    return {
        "status": "Done" if number % 200 == 0 else f"state {number}",
        "project": f"p{number}",
        "priority": number,
        "done": number % 500 == 0,
        "build": {"name": f"Build {number}"},
        "references": {"tickets": [number, f"ISSUE-{number}"]},
        "technologies": ["Python", f"tool-{number}"],
    }


BOTH = [
    ("status", "eq", "dONE", 20, "metadata_string_status"),
    ("status", "in", ["done", "STATE 7"], 21, "metadata_string_status"),
    ("build.name", "eq", "build 7", 1, "metadata_string_build__name"),
    ("priority", "eq", 7, 1, "metadata_number_priority"),
    ("priority", "gt", MANY - 5, 4, "metadata_number_priority"),
    ("done", "eq", True, 8, "metadata_boolean_done"),
]
POSTGRESQL = [
    ("technologies", "array_contains", "TOOL-7", 1, "metadata_array_technologies"),
    ("references.tickets", "array_contains", 7, 1, "metadata_object_references"),
    ("references.tickets", "array_contains", "issue-7", 1, "metadata_object_references"),
    ("references.tickets.0", "eq", 7, 1, "metadata_object_references"),
]


async def test_filters_use_the_indexes(connection: AsyncConnection) -> None:
    await fill(connection, [row(n, metadata=document(n)) for n in range(MANY)])
    cases = BOTH
    if connection.dialect.name == "postgresql":
        await connection.exec_driver_sql("ANALYZE entries")
        cases = [*BOTH, *POSTGRESQL]
    for key, operator, value, count, index in cases:
        for case_sensitive in (False, True):
            selected = criteria(
                key=key, operator=operator, value=value, case_sensitive=case_sensitive
            )
            if not case_sensitive:
                assert len(await found(connection, selected)) == count
            condition = where(selected, connection.dialect.name)
            steps = await plan(connection, select(entries).where(condition))
            assert index in steps, (key, operator, case_sensitive)


async def test_the_newest_of_a_filter_are_read_in_the_order_of_the_index(
    connection: AsyncConnection,
) -> None:
    await fill(connection, [row(n, metadata={"status": f"s{n % 20}"}) for n in range(MANY)])
    if connection.dialect.name == "postgresql":
        await connection.exec_driver_sql("ANALYZE entries")
    condition = where(criteria(key="status", value="S3"), connection.dialect.name)
    newest = (entries.c.created_at.desc(), entries.c.id.desc())
    steps = await plan(connection, select(entries).where(condition).order_by(*newest).limit(5))
    assert "metadata_string_status" in steps
    assert "TEMP B-TREE" not in steps and "Sort" not in steps


async def test_indexes_follow_the_setting(connection: AsyncConnection) -> None:
    dialect = connection.dialect.name
    both = {"metadata_string_status", "metadata_number_priority"}
    await index_metadata(connection, dialect, ["status", "priority:float"])
    assert await index_names(connection) == both
    await index_metadata(connection, dialect, ["status", "priority:number", "status"])
    assert await index_names(connection) == both
    await index_metadata(connection, dialect, ["references", "technologies"])
    inside = {"metadata_object_references", "metadata_array_technologies"}
    assert await index_names(connection) == (inside if dialect == "postgresql" else set())
    await index_metadata(connection, dialect, [])
    assert await index_names(connection) == set()


async def test_values_of_any_size_fit_into_the_indexes(connection: AsyncConnection) -> None:
    digits = "".join(str(n) for n in range(1600))
    huge = [digits, [digits], {"a": [digits]}, int(digits[:4000]), -1.5e300, True, None]
    names = ("status", "priority", "done", "references", "technologies")
    rows = [row(n, metadata=dict.fromkeys(names, value)) for n, value in enumerate(huge)]
    await fill(connection, rows)
    for value, id_ in ((digits, 0), (int(digits[:4000]), 3), (-1.5e300, 4), (True, 5), (None, 6)):
        for name in names:
            assert await found(connection, criteria(key=name, value=value)) == [id_]


@pytest.mark.parametrize("wrong", ["", "a b", "a'b", "a:text", "a..b", "x" * 46, 'a"', "é", "0"])
def test_a_wrong_field_is_refused_with_what_is_allowed(wrong: str) -> None:
    with pytest.raises(SettingsInvalid, match="METADATA_INDEXED_FIELDS") as caught:
        parse_fields(["status", wrong])
    assert "string, number, boolean, array, object" in caught.value.message


# --- criteria beside metadata --------------------------------------------------------------


async def test_every_other_criterion(connection: AsyncConnection) -> None:
    rows = [
        row(1, thread="a", collection="c1"),
        row(2, thread="b", source="agent"),
        row(3, kind="memory", thread="a"),
        row(4, thread="a", content_type="multimodal"),
    ]
    await fill(connection, rows)
    tagged = [{"entry_id": 1, "tag": "x"}, {"entry_id": 1, "tag": "y"}, {"entry_id": 4, "tag": "y"}]
    await connection.execute(insert(tags), tagged)
    moments = [each["created_at"] for each in rows]
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [1, 2, 4]),
        ({"collection": "c1"}, [1]),
        ({"ids": [4, 2, 3, 99]}, [2, 4]),
        ({"ids": [4]}, [4]),
        ({"ids": []}, []),
        ({"threads": ["a"]}, [1, 4]),
        ({"threads": ["a", "b"]}, [1, 2, 4]),
        ({"threads": []}, []),
        ({"source": "agent"}, [2]),
        ({"tags": ["y"]}, [1, 4]),
        ({"tags": ["x", "y", "z"]}, [1, 4]),
        ({"tags": ["z"]}, []),
        ({"content_type": ContentType.MULTIMODAL}, [4]),
        ({"since": moments[1]}, [2, 4]),
        ({"until": moments[1]}, [1, 2]),
        ({"since": moments[1], "until": moments[1]}, [2]),
        ({"threads": ["a"], "source": "agent"}, []),
    ]
    for given, right in cases:
        assert await found(connection, Criteria(EntryKind.THREAD, **given)) == right, given
    assert await found(connection, Criteria(EntryKind.MEMORY)) == [3]


# --- nothing gets out of its place ---------------------------------------------------------

NASTY = [
    "'; DROP TABLE entries; --",
    "' OR '1'='1",
    '"] || true || ["',
    '$."a"',
    "{a,b}",
    "{}'::jsonb",
    "%s %(x)s :x ? $1",
    "\\",
    "\\'",
    '"',
    '\\"',
    "a\nb\tc",
    "--",
    "/*",
    "🎉",
    "-1",
    "+1",
    "01",
    " 1",
]


async def test_keys_and_values_are_never_read_as_sql(connection: AsyncConnection) -> None:
    rows = [row(n, metadata={nasty: {nasty: [nasty]}}) for n, nasty in enumerate(NASTY)]
    lists = [row(len(NASTY) + n, metadata={"list": [0, 1, 2]}) for n in range(2)]
    await fill(connection, [*rows, *lists])
    for number, nasty in enumerate(NASTY):
        key = nasty.replace("\\", "\\\\").replace(".", "\\.")
        inside = f"{key}.{key}"
        for selected in (
            criteria(key=f"{inside}.0", value=nasty),
            criteria(key=f"{inside}.0", operator="contains", value=nasty, case_sensitive=True),
            criteria(key=inside, operator="array_contains", value=nasty),
            criteria(key=key, operator="exists"),
        ):
            assert await found(connection, selected) == [number], nasty
        if nasty not in ("0", "1", "2"):  # no other writing of a number is a place in a list
            assert await found(connection, criteria(key=f"list.{key}", operator="exists")) == []
    assert len(await found(connection, Criteria(EntryKind.THREAD))) == len(rows) + len(lists)


# --- case ----------------------------------------------------------------------------------


async def test_case_is_folded_letter_by_letter(connection: AsyncConnection) -> None:
    words = ["straße", "STRASSE", "STRA\u1e9eE", "kelvin", "\u212aelvin", "rose", "ro\u017fe"]
    await fill(connection, [row(n, metadata={"status": word}) for n, word in enumerate(words)])
    for asked, right in (("Straße", [0, 2]), ("strasse", [1]), ("KELVIN", [3]), ("Rose", [5])):
        assert await found(connection, criteria(key="status", value=asked)) == right
        assert await found(
            connection, criteria(key="status", operator="contains", value=asked)
        ) == (right)


async def test_postgresql_folds_every_letter_as_we_do(postgres_url: str) -> None:
    letters = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code <= 0xDFFF]
    known = [letter for letter in letters if unicodedata.category(letter) not in ("Cn", "Co")]
    async with bare_tables(postgres_url) as engine, engine.begin() as connection:
        version = await connection.scalar(text("SHOW server_version_num"))
        if int(str(version)) < CASEFOLD_SINCE:
            pytest.skip("before 18 PostgreSQL has no casefold(): rare letters keep their case")
        await index_metadata(connection, "postgresql", [])
        folded = text(
            "SELECT string_agg(ctx_fold(letter), '' ORDER BY nr) FROM "
            "unnest(string_to_array(:letters, NULL)) WITH ORDINALITY AS t(letter, nr)"
        )
        answer = await connection.scalar(folded, {"letters": "".join(known)})
    differ = [a for a, b in zip(known, str(answer), strict=True) if fold(a) != b]
    # There NOT_FOLDED become placeholders; three more letters came with a newer Unicode.
    assert set(differ) <= {*NOT_FOLDED, "\u1fd3", "\u1fe3", "\ufb05"}
