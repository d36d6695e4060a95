"""Full-text search on both databases: modes, ranking, highlights, filters, the index itself."""

from collections.abc import AsyncIterator, Sequence
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.core.errors import SettingsInvalid
from services.memory.records.filters import parse_filters
from services.memory.records.filters.indexes import index_metadata
from services.memory.records.fulltext import (
    LANGUAGES,
    ensure_full_text,
    full_text_query,
    postgresql,
    sqlite,
)
from services.memory.records.fulltext.query import NO_WORDS, STOP_WORDS_ONLY
from services.memory.records.tables import entries, tags
from services.memory.records.types import Criteria, EntryKind, TextMode
from tests.support.tables import bare_tables, fill, row

THREAD = Criteria(EntryKind.THREAD)
TEXTS = {
    1: "The server crashed with errors, see services/core/errors.py",
    2: "University servers were running universally",
    3: "Authentication of users; authenticating twice is wrong",
    4: "don't panic: 100% of the tests passed",
    5: "server server server error error",
    6: "Le café est fermé",
    7: "C++ and foo_bar::baz(qux) @ user@example.com",
}


@pytest.fixture
async def engine(records_url: str) -> AsyncIterator[AsyncEngine]:
    async with bare_tables(records_url) as opened:
        async with opened.begin() as connection:
            await index_metadata(connection, opened.dialect.name, ["status"])
            await ensure_full_text(connection, opened.dialect.name, "english")
        yield opened


@pytest.fixture
async def connection(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    async with engine.connect() as opened:
        yield opened


@pytest.fixture
async def texts(connection: AsyncConnection) -> AsyncConnection:
    await fill(connection, [row(number, text=content) for number, content in TEXTS.items()])
    return connection


async def search(
    connection: AsyncConnection,
    query: str,
    mode: str = "match",
    criteria: Criteria = THREAD,
    **options: Any,
) -> tuple[Sequence[Any], list[str]]:
    given_: dict[str, Any] = {"language": "english", "limit": 100, "offset": 0, "highlight": False}
    asked = given_ | {"any_word": False} | options
    statement, warnings = full_text_query(
        query, TextMode(mode), criteria, connection.dialect.name, **asked
    )
    return (await connection.execute(statement)).mappings().all(), warnings


async def ids(
    connection: AsyncConnection, query: str, mode: str = "match", **more: Any
) -> list[int]:
    rows, _ = await search(connection, query, mode, **more)
    return sorted(each["id"] for each in rows)


# --- modes ---------------------------------------------------------------------------------


MODES: list[tuple[str, str, list[int]]] = [
    ("match", "server", [1, 2, 5]),
    ("match", "SERVERS error", [1, 5]),  # all words, stemmed, whatever their case
    ("match", "the server of error", [1, 5]),  # stop words do not count
    ("match", "don't server error", [1, 5]),
    ("match", "errors.py", [1]),  # a word with punctuation is a phrase
    ("match", "core/errors", [1]),
    ("match", "foo_bar", [7]),
    ("match", "example.com qux", [7]),
    ("match", "server unicorn", []),
    ("match", "run", [2]),
    ("prefix", "serv", [1, 2, 5]),
    ("prefix", "auth us", [3]),
    *(("prefix", "authentication"[:length], [3]) for length in range(3, 15)),
    *(("prefix", "university"[:length], [2]) for length in range(3, 11)),
    ("prefix", "xauth", []),
    ("phrase", "server crashed", [1]),
    ("phrase", "crashed server", []),
    ("phrase", "tests passed", [4]),
    ("boolean", "server AND crashed", [1]),
    ("boolean", "server crashed", [1]),
    ("boolean", "crashed OR panic", [1, 4]),
    ("boolean", "server NOT crashed", [2, 5]),
    ("boolean", "server AND NOT crashed", [2, 5]),
    ("boolean", "(crashed OR panic) AND tests", [4]),
    ("boolean", "crashed OR panic AND tests", [1, 4]),
    ("boolean", '"server crashed" OR "tests passed"', [1, 4]),
    ("boolean", "auth* OR panic", [3, 4]),
    ("boolean", "NOT server", [3, 4, 6, 7]),
    ("boolean", "NOT (server OR panic)", [3, 6, 7]),
    ("boolean", "panic OR NOT server", [3, 4, 6, 7]),
    ("boolean", "crashed OR NOT (server OR café)", [1, 3, 4, 7]),
    ("boolean", "NOT NOT panic", [4]),
    ("boolean", "NOT server NOT panic", [3, 6, 7]),
    ("boolean", "server and crashed", [1]),  # in small letters it is a word, and a common one
]


async def test_modes(texts: AsyncConnection) -> None:
    for mode, query, right in MODES:
        assert await ids(texts, query, mode) == right, (mode, query)


async def test_any_word(texts: AsyncConnection) -> None:
    assert await ids(texts, "panic crashed unicorn", any_word=True) == [1, 4]
    assert await ids(texts, "unicorn", any_word=True) == []
    assert await ids(texts, "pani crash", "prefix", any_word=True) == [1, 4]


MALFORMED = [
    ("panic AND", "something is missing at its end"),
    ("AND panic", "something is missing before AND"),
    ("(panic", "a parenthesis is not closed"),
    ("panic)", "a parenthesis is closed that was not opened"),
    ('"panic', "a quotation is not closed"),
    ("panic OR OR tests", "something is missing before OR"),
    ("()panic", "something is missing before )"),
    ("(" * 50 + "panic" + ")" * 50, "nested deeper"),
]


async def test_a_malformed_boolean_is_read_as_words(texts: AsyncConnection) -> None:
    for query, reason in MALFORMED:
        rows, [warning] = await search(texts, query, "boolean")
        assert [each["id"] for each in rows] == [4]
        assert "read as plain words" in warning
        assert reason in warning


async def test_a_query_that_asks_for_nothing_says_so(texts: AsyncConnection) -> None:
    for mode in TextMode:
        for query in ("", " ?! -- ' \" "):
            assert await search(texts, query, mode) == ([], [NO_WORDS])
        for query in ("the", "of the", "not the"):
            assert await search(texts, query, mode) == ([], [STOP_WORDS_ONLY])
    assert await search(texts, "NOT the", "boolean") == ([], [STOP_WORDS_ONLY])


async def test_more_words_than_a_query_has(texts: AsyncConnection) -> None:
    many = "panic " + " ".join(f"word{number}" for number in range(500))
    rows, [warning] = await search(texts, many, any_word=True)
    assert [each["id"] for each in rows] == [4]
    assert "first 64 words" in warning
    _, warnings = await search(texts, many, "boolean")
    assert "more than 64 words" in warnings[0]
    assert await search(texts, many, "phrase") == ([], [])


NASTY = [
    *('"', '""', "'", "''", "\\", "\\'", "*", "**", "a*", "*a", "-a", "+a", "^a", "a^2", "a:b"),
    *("text:panic", "{text}: panic", "NEAR(a b)", "a NEAR/2 b", "(", ")", "()", "AND", "NOT", "OR"),
    *("a AND", "OR b", "a NOT", "a & b", "a | b", "!a", "a <-> b", "a <2> b", "a:*", "a:A"),
    *(
        "; DROP TABLE entries; --",
        "' OR 1=1 --",
        "%",
        "_",
        "?",
        "$1",
        ":x",
        "%(x)s",
        "\x00",
        "a\x00b",
    ),
    *(
        "\ud800",
        "é" * 50,
        "日本語のテキスト",
        "हिन्दी",
        "🎉",
        "\u200b",
        "a\nb\tc",
        "x" * 3000,
        "1",
        "-1",
        "1e5",
    ),
    *("http://a.b/c?d=e&f", "<b>bold</b>", "a@b.c", "/usr/bin", "C:\\x", "don't", "“quoted”"),
    *(" ".join(["a"] * 3000), "(" * 1000, '"a" ' * 100, "NOT " * 100 + "a", "''':*", "a':* | 'b"),
]


@pytest.mark.parametrize("mode", list(TextMode))
async def test_no_text_breaks_the_syntax(texts: AsyncConnection, mode: TextMode) -> None:
    for nasty in NASTY:
        for any_word in (False, True):
            await search(texts, nasty, mode, any_word=any_word, highlight=True)
            await search(texts, f"panic {nasty}", mode, any_word=any_word)
    assert await ids(texts, "panic") == [4]


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=st.text(max_size=40), mode=st.sampled_from(list(TextMode)))
async def test_random_text_breaks_nothing(
    texts: AsyncConnection, query: str, mode: TextMode
) -> None:
    await search(texts, query, mode, highlight=True, any_word=len(query) % 2 == 0)


WORDS = ("apple", "berry", "cherry", "dates")
TREES = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: (
        st.tuples(st.just("NOT"), inner)
        | st.tuples(inner, st.just("AND"), inner)
        | st.tuples(inner, st.just("OR"), inner)
    ),
    max_leaves=6,
)


def spelled(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(spelled, tree))})"


def holds(tree: Any, said: set[str]) -> bool:
    match tree:
        case str():
            return tree in said
        case ("NOT", part):
            return not holds(part, said)
        case (left, "AND", right):
            return holds(left, said) and holds(right, said)
        case (left, _, right):
            return holds(left, said) or holds(right, said)
    raise AssertionError(tree)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tree=TREES)
async def test_boolean_queries_mean_what_they_say(connection: AsyncConnection, tree: Any) -> None:
    said = [{word for bit, word in enumerate(WORDS) if n >> bit & 1} for n in range(16)]
    await fill(connection, [row(n, text=" ".join(sorted(said[n]))) for n in range(16)])
    try:
        right = [n for n in range(16) if holds(tree, said[n])]
        assert await ids(connection, spelled(tree), "boolean") == right
    finally:
        await connection.rollback()


# --- ranking and highlights ----------------------------------------------------------------


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


HIGHLIGHTS = [
    ("match", "server errors", 5, ["<<server>>", "<<error>>"]),
    ("match", "run", 2, ["<<running>>"]),
    ("match", "errors.py", 1, ["errors", ">>"]),
    ("phrase", "tests passed", 4, ["tests", "passed>>"]),
    ("prefix", "auth", 3, ["<<Authentication>>", "<<authenticating>>"]),
    ("boolean", "panic OR unicorn", 4, ["<<panic>>"]),
    ("match", "qux", 7, ["<<qux>>"]),
]


async def test_highlights(texts: AsyncConnection) -> None:
    for mode, query, id_, marks in HIGHLIGHTS:
        rows, _ = await search(texts, query, mode, highlight=True)
        shown = {each["id"]: each["highlighted"] for each in rows}[id_]
        for mark in marks:
            assert mark in shown
        rows, _ = await search(texts, query, mode)
        assert {each["highlighted"] for each in rows} == {None}


async def test_a_long_text_is_shown_in_part(connection: AsyncConnection) -> None:
    await fill(connection, [row(1, text="word " * 5000 + "needle " + "word " * 5000)])
    [hit], _ = await search(connection, "needle", highlight=True)
    assert "<<needle>>" in hit["highlighted"]
    assert len(hit["highlighted"]) < 500


# --- filters -------------------------------------------------------------------------------


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


# --- the index -----------------------------------------------------------------------------


async def test_the_index_follows_the_entries(texts: AsyncConnection) -> None:
    await texts.execute(update(entries).where(entries.c.id == 4).values(text="calm unicorn"))
    assert (await ids(texts, "panic"), await ids(texts, "unicorn")) == ([], [4])
    await texts.execute(update(entries).where(entries.c.id == 4).values(summary="panic"))
    assert (await ids(texts, "panic"), await ids(texts, "unicorn")) == ([], [4])
    await texts.execute(delete(entries).where(entries.c.id == 4))
    assert await ids(texts, "unicorn") == []
    await fill(texts, [row(4, text="another unicorn")])
    assert await ids(texts, "unicorn") == [4]


async def test_another_language_fills_the_index_anew(texts: AsyncConnection) -> None:
    dialect = texts.dialect.name
    await ensure_full_text(texts, dialect, "simple")
    assert await ids(texts, "crash", language="simple") == []
    assert await ids(texts, "crashed", language="simple") == [1]
    assert await ids(texts, "the", language="simple") == [1, 4]  # no stop words either
    await fill(texts, [row(50, text="crashed again")])
    assert await ids(texts, "crashed", language="simple") == [1, 50]
    await ensure_full_text(texts, dialect, "english")
    assert await ids(texts, "crash") == [1, 50]


async def test_postgresql_stems_other_languages(postgres_url: str) -> None:
    async with bare_tables(postgres_url) as engine, engine.begin() as connection:
        await fill(connection, [row(1, text="Die Häuser sind groß")])
        await index_metadata(connection, "postgresql", [])
        known = set(await connection.scalars(text("SELECT cfgname FROM pg_ts_config")))
        for language in LANGUAGES:
            if language in known:  # Estonian came with PostgreSQL 18
                await ensure_full_text(connection, "postgresql", language)
            else:
                with pytest.raises(SettingsInvalid, match="this PostgreSQL knows"):
                    await ensure_full_text(connection, "postgresql", language)
        await ensure_full_text(connection, "postgresql", "german")
        assert await ids(connection, "Haus", language="german") == [1]


async def test_sqlite_says_that_it_stems_english_only(
    engine: AsyncEngine, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine.begin() as connection:
        await ensure_full_text(connection, engine.dialect.name, "german")
    said = "stems English only" in caplog.text
    assert said == (engine.dialect.name == "sqlite")


async def test_sqlite_ignores_accents(texts: AsyncConnection) -> None:
    assert await ids(texts, "café") == [6]
    assert await ids(texts, "cafe") == ([6] if texts.dialect.name == "sqlite" else [])


async def test_an_unknown_language_is_refused(connection: AsyncConnection) -> None:
    with pytest.raises(SettingsInvalid, match="did you mean english") as caught:
        await ensure_full_text(connection, connection.dialect.name, "englisch")
    assert "french" in caught.value.message


async def test_an_index_that_is_there_is_left_alone(texts: AsyncConnection) -> None:
    dialect = texts.dialect.name
    before = await _identity(texts)
    await ensure_full_text(texts, dialect, "english")
    assert await _identity(texts) == before
    await ensure_full_text(texts, dialect, "simple")
    assert await _identity(texts) != before


async def _identity(connection: AsyncConnection) -> Any:
    if connection.dialect.name == "postgresql":
        return await connection.scalar(text("SELECT 'entries_by_text'::regclass::oid"))
    return await connection.scalar(
        text("SELECT rootpage FROM sqlite_master WHERE name = 'entries_text_data'")
    ), await connection.scalar(text("SELECT sql FROM sqlite_master WHERE name = 'entries_text'"))


async def test_a_lost_trigger_is_noticed(texts: AsyncConnection) -> None:
    if texts.dialect.name == "postgresql":
        pytest.skip("PostgreSQL keeps the vectors itself")
    await texts.exec_driver_sql("DROP TRIGGER entries_text_added")
    await fill(texts, [row(60, text="unicorn")])
    assert await ids(texts, "unicorn") == []
    await ensure_full_text(texts, "sqlite", "english")
    assert await ids(texts, "unicorn") == [60]


async def test_a_text_of_any_size_can_be_stored(connection: AsyncConnection) -> None:
    """PostgreSQL's vectors have a limit, which no text may run into."""
    rare = [chr(0x20000 + n) for n in range(350)]  # letters of four bytes each
    words = [
        *("w{0}", "слово{0}", "a-{0}", "{0}.{0}", "日{0}", "/x/{0}/y"),
        *("".join((first, "{1}")) for first in rare[:1]),
    ]
    for number, word in enumerate(words, start=1):
        whole = " ".join(
            word.format(n, rare[n % 350] + rare[n // 350 % 350]) for n in range(100_000)
        )
        await fill(connection, [row(number, text="needle " + whole)])
    assert await ids(connection, "needle") == list(range(1, len(words) + 1))
