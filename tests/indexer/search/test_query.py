import pytest

from services.core.errors import InvalidInput
from services.indexer.search.query import parse_queries, parse_query


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("StateManager", ("StateManager",)),
        ("http.Client", ("Client", "http")),
        ("Vec::push", ("push", "Vec")),
        ("run()", ("run",)),
        ("parse_args", ("parse_args",)),
        ("retry", ("retry",)),
    ],
)
def test_a_name_alone_is_a_symbol(query: str, names: tuple[str, ...]) -> None:
    question = parse_query(query)
    assert question.is_symbol
    assert question.names == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("how does StateManager track runs", ("StateManager",)),
        ("where is max_retries read", ("max_retries",)),
        ("How are requests retried", ()),
        ("what does Session do", ("Session",)),
    ],
)
def test_names_in_prose(query: str, names: tuple[str, ...]) -> None:
    question = parse_query(query)
    assert not question.is_symbol
    assert question.names == names


def test_filters_are_taken_out_of_the_text() -> None:
    question = parse_query('retry lang:python under:src/net not:"**/old files/*" ext:py backoff')
    assert question.text == "retry backoff"
    assert question.filters == {
        "language": ["python"],
        "under": ["src/net"],
        "not_glob": ["**/old files/*"],
        "ext": ["py"],
    }


@pytest.mark.parametrize("query", ["std::vector usage", "see http://x.org now", "a path : b"])
def test_colons_that_are_no_filters(query: str) -> None:
    assert parse_query(query).filters == {}


def test_a_filter_alone_is_a_query() -> None:
    assert parse_query("symbol:Session").filters == {"symbol": ["Session"]}


@pytest.mark.parametrize("query", ["", "   "])
def test_nothing_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        parse_query(query)
    with pytest.raises(InvalidInput, match="empty"):
        parse_queries([])


def test_too_much_is_refused() -> None:
    parse_query("x" * 1000)
    with pytest.raises(InvalidInput, match="1001 characters"):
        parse_query("x" * 1001)
