"""Each rule, seen alone."""

from typing import Any

import pytest

from ctx_indexer.schema.features import ChunkLocation, compute_features
from ctx_indexer.search.query import parse_query
from ctx_indexer.search.ranking import rank
from ctx_indexer.search.rules import Candidate, Ranked, name_words
from ctx_indexer.search.selection import cut_off, select
from ctx_indexer.search.word_similarity import equal_stems
from ctx_indexer.source.classify import NO_FLAGS, FileFlags

PLAIN: dict[str, Any] = {
    "kind": "function",
    "symbol": "",
    "symbol_path": "",
    "symbols": [],
    "flags": NO_FLAGS,
}


def candidate(
    name: str,
    *,
    dense: float = 0.5,
    lexical: float = 5.0,
    path: str | None = None,
    line: int = 1,
    **changes: Any,
) -> Candidate:
    """A chunk of src/NAME.py; `changes` are its kind, symbols and flags."""
    location = ChunkLocation("r", path or f"src/{name}.py", line)
    features = compute_features(location, **(PLAIN | changes))
    return Candidate(name, features, dense, lexical)


def ranked_for(query: str, candidates: list[Candidate]) -> list[Ranked]:
    parsed = parse_query(query)
    return rank(candidates, parsed, equal_stems(parsed, name_words(candidates)))


def order(query: str, *candidates: Candidate) -> list[str]:
    return [item.candidate.id for item in ranked_for(query, list(candidates))]


def test_both_vectors_count() -> None:
    assert order("some words", candidate("b", lexical=4.0), candidate("a")) == ["a", "b"]
    assert order("some words", candidate("b", dense=0.4), candidate("a")) == ["a", "b"]


def test_a_definition_comes_before_better_text() -> None:
    user = candidate("user", lexical=9.0, dense=0.9)
    session: dict[str, Any] = {"symbol": "Session", "symbols": ["session"], "lexical": 3.0}
    definition = candidate("x", **session, symbol_path="Session", kind="class")
    method = candidate("y", **session, symbol_path="A.Session")
    variable = candidate("z", **session, symbol_path="Session", kind="variable")
    assert order("Session", user, variable, method, definition) == ["x", "y", "z", "user"]


def test_a_name_counts_most_in_its_own_case() -> None:
    defined: dict[str, Any] = {"symbol": "session", "symbols": ["session"]}
    function = candidate("function", **defined, symbol_path="session", lexical=5.1)
    a_class = candidate("class", **defined, symbol_path="Session", kind="class", lexical=4.9)
    assert order("Session", function, a_class) == ["class", "function"]
    assert order("session", function, a_class) == ["function", "class"]
    assert order("SESSION", function, a_class) == ["function", "class"]


def test_in_prose_a_definition_does_not_jump_the_queue() -> None:
    user = candidate("user", lexical=9.0, dense=0.9)
    session: dict[str, Any] = {
        "symbol": "Session",
        "symbols": ["session"],
        "symbol_path": "Session",
    }
    definition = candidate("x", **session, lexical=3.0, kind="class")
    assert order("how is a Session closed", user, definition) == ["user", "x"]


@pytest.mark.parametrize(
    "better",
    [
        {"path": "src/retry_policy.py"},
        {"symbols": ["retry_policy"]},
        {"symbol": "retry", "symbols": ["retry"]},
    ],
)
def test_names_that_say_the_query(better: dict[str, Any]) -> None:
    assert order("retry policy", candidate("a"), candidate("b", **better)) == ["b", "a"]


@pytest.mark.parametrize(
    "worse",
    [
        {"flags": FileFlags(is_test=True)},
        {"flags": FileFlags(is_docs=True)},
        {"flags": FileFlags(is_generated=True)},
        {"flags": FileFlags(is_vendored=True)},
        {"kind": "import"},
        {"path": "src/legacy/thing.py"},
        {"path": "examples/thing.py"},
    ],
)
def test_chunks_that_seldom_hold_the_answer(worse: dict[str, Any]) -> None:
    assert order("some words", candidate("a", **worse), candidate("b")) == ["b", "a"]


def test_a_newer_version_beside_it_comes_first() -> None:
    old = candidate("old", path="lib/v3/types.ts", lexical=5.1)
    new = candidate("new", path="lib/v4/schemas.ts")
    other = candidate("other", path="src/v4/types.ts")
    newest = candidate("newest", path="lib/v12/types.ts")
    assert order("some words", old, new) == ["new", "old"]
    assert order("errors in V3", old, new) == ["old", "new"]
    assert order("some words", old, other) == ["old", "other"]
    assert order("some words", old, newest) == ["newest", "old"]


def test_a_query_for_tests_finds_tests() -> None:
    test = candidate("a", flags=FileFlags(is_test=True), lexical=5.1)
    assert order("tests of the parser", test, candidate("b")) == ["a", "b"]


def test_a_file_with_many_good_chunks_is_about_the_topic() -> None:
    lone = candidate("lone", lexical=5.1)
    several = [candidate(f"s{n}", path="src/one.py", line=n) for n in range(4)]
    assert order("some words", lone, *several)[0] == "s0"


def test_the_same_score_has_one_order() -> None:
    first, second = candidate("a"), candidate("b")
    assert order("some words", first, second) == order("some words", second, first)


def test_selection_spreads_over_files_and_keeps_the_cap() -> None:
    same = [candidate(f"s{n}", lexical=6.0, path="src/thing.py", line=n) for n in range(5)]
    ranked = ranked_for("some words", [*same, candidate("other", lexical=4.0)])
    chosen = [item.candidate.id for item in select(ranked, limit=10, per_path=2)]
    assert chosen == ["s0", "other", "s1"]
    assert len(select(ranked, limit=10, per_path=10)) == 6
    assert len(select(ranked, limit=1, per_path=10)) == 1


def test_components_explain_the_score() -> None:
    (item,) = ranked_for("thing", [candidate("thing", symbol="thing", symbol_path="thing")])
    rules = item.rules
    product = (rules["fusion"] + rules["definition"]) * rules["name_match"] * rules["path_penalty"]
    assert item.score == pytest.approx(product + rules["coherence"])


def test_no_candidates() -> None:
    assert ranked_for("x", []) == []


def test_what_is_far_below_the_first_is_cut_off() -> None:
    ranked = [Ranked(candidate(f"{n}.py"), score, {}) for n, score in enumerate((1.0, 0.5, 0.01))]
    assert [item.score for item in cut_off(ranked)] == [1.0, 0.5]
    assert cut_off([]) == []


def test_tests_are_not_penalised_where_there_is_nothing_else() -> None:
    test = candidate("t", path="tests/test_thing.py", flags=FileFlags(is_test=True))
    [alone] = ranked_for("some words", [test])
    assert alone.rules["path_penalty"] == 1.0
    beside = {item.candidate.id: item for item in ranked_for("some words", [test, candidate("c")])}
    assert beside["t"].rules["path_penalty"] < 1.0


def test_a_qualified_name_asks_for_the_member_not_for_its_class() -> None:
    whole = candidate("class", symbol="Basket", symbol_path="Basket", symbols=["basket"])
    member = candidate("total", symbol="total", symbol_path="Basket.total", symbols=["total"])
    other = candidate("other", symbol="total", symbol_path="Order.total", symbols=["total"])
    assert order("Basket.total", whole, other, member)[0] == "total"


def test_a_version_counts_less_beside_newer_code_only() -> None:
    old = candidate("old", path="lib/v1/fields.py", lexical=5.1)
    assert order("some words", old, candidate("new", path="lib/types.py")) == ["new", "old"]
    assert order("some words", old, candidate("other", path="src/types.py")) == ["old", "other"]
