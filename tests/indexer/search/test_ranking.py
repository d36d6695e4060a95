"""Each rule, seen alone."""

from typing import Any

import pytest

from services.indexer.schema.features import features
from services.indexer.search.query import parse_query
from services.indexer.search.ranking import Candidate, Ranked, merged, rank, select, words_of
from services.indexer.search.word_similarity import equal

PAYLOAD: dict[str, Any] = {
    "repo": "r",
    "path": "src/thing.py",
    "kind": "function",
    "symbol": "",
    "symbol_path": "",
    "symbols": [],
    "start_line": 1,
    "end_line": 9,
    "is_test": False,
    "is_docs": False,
    "is_generated": False,
    "is_vendored": False,
}


def candidate(name: str, *, dense: float = 0.5, lexical: float = 5.0, **payload: Any) -> Candidate:
    described = PAYLOAD | {"path": f"src/{name}.py"} | payload
    return Candidate(name, features(described), dense, lexical)


def ranked_for(query: str, candidates: list[Candidate]) -> list[Ranked]:
    question = parse_query(query)
    return rank(candidates, question, equal(question, words_of(candidates)))


def order(query: str, *candidates: Candidate) -> list[str]:
    return [item.candidate.id for item in ranked_for(query, list(candidates))]


def test_both_legs_count() -> None:
    assert order("some words", candidate("b", lexical=4.0), candidate("a")) == ["a", "b"]
    assert order("some words", candidate("b", dense=0.4), candidate("a")) == ["a", "b"]


def test_a_definition_comes_before_better_text() -> None:
    user = candidate("user", lexical=9.0, dense=0.9)
    session: dict[str, Any] = {"symbol": "Session", "symbols": ["session"], "lexical": 3.0}
    definition = candidate("x", **session, symbol_path="Session", kind="class")
    method = candidate("y", **session, symbol_path="A.Session")
    variable = candidate("z", **session, symbol_path="Session", kind="variable")
    assert order("Session", user, variable, method, definition) == ["x", "y", "z", "user"]


def test_a_name_is_asked_for_as_it_is_written() -> None:
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
        {"is_test": True},
        {"is_docs": True},
        {"is_generated": True},
        {"is_vendored": True},
        {"kind": "import"},
        {"path": "src/legacy/thing.py"},
        {"path": "examples/thing.py"},
    ],
)
def test_places_where_answers_are_seldom_found(worse: dict[str, Any]) -> None:
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


def test_who_asks_for_tests_gets_tests() -> None:
    test = candidate("a", is_test=True, lexical=5.1)
    assert order("tests of the parser", test, candidate("b")) == ["a", "b"]


def test_a_file_with_many_good_chunks_is_about_the_topic() -> None:
    lone = candidate("lone", lexical=5.1)
    several = [candidate(f"s{n}", path="src/one.py", start_line=n) for n in range(4)]
    assert order("some words", lone, *several)[0] == "s0"


def test_the_same_score_has_one_order() -> None:
    first, second = candidate("a"), candidate("b")
    assert order("some words", first, second) == order("some words", second, first)


def test_selection_spreads_over_files_and_keeps_the_cap() -> None:
    same = [candidate(f"s{n}", lexical=6.0, path="src/thing.py", start_line=n) for n in range(5)]
    ranked = ranked_for("some words", [*same, candidate("other", lexical=4.0)])
    chosen = [item.candidate.id for item in select(ranked, limit=10, per_path=2)]
    assert chosen == ["s0", "other", "s1"]
    assert len(select(ranked, limit=10, per_path=10)) == 6
    assert len(select(ranked, limit=1, per_path=10)) == 1


def test_components_explain_the_score() -> None:
    (item,) = ranked_for("thing", [candidate("thing", symbol="thing", symbol_path="thing")])
    rules = item.rules
    product = (rules["fusion"] + rules["definition"]) * rules["naming"] * rules["location"]
    assert item.score == pytest.approx(product + rules["coherence"])


def test_several_queries_are_one_question() -> None:
    both = merged([parse_query("retry"), parse_query("backoff jitter")])
    assert both.terms >= {"retri", "backoff", "jitter"}
    assert not both.is_symbol


def test_no_candidates() -> None:
    assert ranked_for("x", []) == []
