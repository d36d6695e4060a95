"""Ranking in context: entries beside those found, on each database."""

from datetime import UTC, datetime

from ctx_memory.records.entry import Criteria, EntryKind
from ctx_memory.search.context import lines
from ctx_memory.search.splitter import TextSplitter
from ctx_memory.threads.threads import Threads
from tests.support.threads import add, draft, search_request

FILLER = [f"The weather on day {n} was mild and dry" for n in range(30)]


def test_the_lines_of_found_entries_say_who_stands_beside_whom() -> None:
    assert lines({5: {-2: 3, -1: 4, 1: 6}}) == {
        3: {1: 4, 2: 5},
        4: {-1: 3, 1: 5, 2: 6},
        5: {-2: 3, -1: 4, 1: 6},
        6: {-2: 4, -1: 5},
    }
    assert lines({1: {}}) == {}


async def test_neighbours_are_of_the_same_thread(threads: Threads) -> None:
    one, other, two, three = await add(
        threads,
        [draft("one"), draft("other", thread="u"), draft("two"), draft("three")],
    )
    ids = [one, other, two, three]
    found, _ = await threads.entries.records.surroundings(ids, Criteria(EntryKind.THREAD), 2)
    assert found == {one: {1: two, 2: three}, other: {}, two: {-1: one, 1: three}} | {
        three: {-2: one, -1: two}
    }


async def test_passages_are_beginnings_and_say_what_may_be_shown(threads: Threads) -> None:
    short, long = await add(
        threads, [draft("short", source="user"), draft("x" * 5_000, source="agent")]
    )
    criteria = Criteria(EntryKind.THREAD, source="user")
    _, found = await threads.entries.records.surroundings([short, long], criteria, 1)
    assert (found[short].text, found[short].length, found[short].is_shown) == ("short", 5, True)
    assert (len(found[long].text), found[long].length) == (2_000, 5_000)
    assert not found[long].is_shown


async def test_a_reply_is_found_by_the_question_before_it(threads: Threads) -> None:
    ids = await add(
        threads,
        [
            *map(draft, FILLER),
            draft("Anna: Boris, which instrument did you play as a child?"),
            draft("Boris: The old cello of my aunt, every evening."),
            *map(draft, FILLER[:2]),
        ],
    )
    reply = ids[len(FILLER) + 1]
    body = await threads.hybrid.search(
        "Which instrument did Boris play as a child?", None, None, search_request(2)
    )
    assert reply in [hit["id"] for hit in body["results"]]


async def test_what_a_filter_hides_is_context_only(threads: Threads) -> None:
    asks = draft("Anna: Which instrument did you play as a child?", source="agent")
    replies = draft("Boris: The old cello of my aunt, every evening.", source="user")
    *_, reply = await add(threads, [*map(draft, FILLER), asks, replies])
    query = "Which instrument did Boris play as a child?"
    body = await threads.hybrid.search(query, None, None, search_request(1, source="user"))
    assert [hit["id"] for hit in body["results"]] == [reply]


async def test_repeats_are_shown_once_and_pages_fit(threads: Threads) -> None:
    await add(
        threads,
        [
            draft(text, thread=f"t{n}")
            for n, text in enumerate(["Use tabs in Makefiles.", "use TABS in Makefiles"] * 3)
        ],
    )
    await add(threads, [draft("Makefiles need tabs, editors need settings for that")])
    body = await threads.hybrid.search("tabs in Makefiles", None, None, search_request(5))
    assert body["count"] == 2
    second = await threads.hybrid.search("tabs in Makefiles", None, None, search_request(1, 1))
    assert [hit["id"] for hit in second["results"]] == [body["results"][1]["id"]]


async def test_one_mode_alone_has_no_context(threads: Threads) -> None:
    await add(threads, [draft("the very same words", thread=f"t{n}") for n in range(3)])
    for mode in ("fts", "semantic"):
        body = await threads.hybrid.search("same words", [mode], None, search_request(5))
        assert body["count"] == 3


def test_a_text_never_has_more_chunks_than_reckoned() -> None:
    splitter = TextSplitter(100, 20)
    for length in (1, 100, 101, 500, 1_234):
        for text in ("a" * length, ("word " * length)[:length], ("A. " * length)[:length]):
            assert len(splitter.chunks(text)) <= splitter.most_chunks(length)


async def test_a_time_in_the_question_prefers_entries_of_that_time(threads: Threads) -> None:
    dated = [
        draft(f"invoice run {n}", created_at=datetime(2023, 5, 1 + n, tzinfo=UTC)) for n in range(3)
    ]
    many = [draft(f"invoice run, invoice run {n}", thread=f"other {n}") for n in range(80)]
    ids = await add(threads, [*dated, *many])
    body = await threads.hybrid.search("invoice run in May 2023", None, None, search_request(3))
    assert {hit["id"] for hit in body["results"]} == set(ids[:3])
