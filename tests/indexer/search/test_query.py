import pytest

from ctx_core.errors import InvalidInput
from ctx_indexer.search.filters import INLINE_FILTERS, SearchFilters
from ctx_indexer.search.query import is_code, merge_queries, parse_queries, parse_query


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
    parsed = parse_query(query)
    assert parsed.is_symbol
    assert parsed.names == names


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
    parsed = parse_query(query)
    assert not parsed.is_symbol
    assert parsed.names == names


def test_filters_are_taken_out_of_the_text() -> None:
    parsed = parse_query('retry lang:python under:src/net not:"**/old files/*" ext:py backoff')
    assert parsed.text == "retry backoff"
    assert parsed.filters == SearchFilters(
        languages=("python",), under=("src/net",), not_globs=("**/old files/*",), exts=("py",)
    )


@pytest.mark.parametrize("query", ["std::vector usage", "see http://x.org now", "a path : b"])
def test_colons_that_are_no_filters(query: str) -> None:
    assert parse_query(query).filters == SearchFilters()


def test_a_filter_alone_is_a_query() -> None:
    assert parse_query("symbol:Session").filters == SearchFilters(symbols=("Session",))


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


@pytest.mark.parametrize("name", INLINE_FILTERS)
def test_every_inline_filter_adds_to_the_filters_of_the_request(name: str) -> None:
    inline = parse_query(f"retry {name}:one {name}:two").filters
    assert getattr(inline, INLINE_FILTERS[name]) == ("one", "two")
    request = SearchFilters(repos=("a",), is_test=True)
    both = request.with_inline(inline)
    assert getattr(both, INLINE_FILTERS[name])[-2:] == ("one", "two")
    assert both.repos[0] == "a"
    assert both.is_test is True


def test_several_queries_are_merged() -> None:
    merged = merge_queries([parse_query("retry"), parse_query("backoff jitter")])
    assert merged.terms >= {"retri", "backoff", "jitter"}
    assert not merged.is_symbol


@pytest.mark.parametrize(
    ("query", "literals"),
    [
        ("where is CTX_AUTH_TOKENS read", ("CTX_AUTH_TOKENS",)),
        ("who sets the X-MCP-Toolsets header?", ("X-MCP-Toolsets",)),
        ("what reports models.E028.", ("models.E028",)),
        ("how does --no-cache-dir work", ("--no-cache-dir",)),
        ("how parseConfig and Vec::push differ", ("parseConfig", "Vec::push")),
        ("the value of `limit` in it", ("limit",)),
        ("HTTP and JSON over a well-known port, e.g. a socket", ()),
    ],
)
def test_what_is_written_as_in_a_file_is_a_literal(query: str, literals: tuple[str, ...]) -> None:
    assert parse_query(query).literals == literals


def test_codes_are_told_from_identifiers() -> None:
    codes = ["CTX_AUTH_TOKENS", "X-MCP-Toolsets", "models.E028", "--no-cache-dir", "E1234"]
    assert all(is_code(each) for each in codes)
    assert not any(is_code(each) for each in ["parseConfig", "Vec::push", "os.path", "Session"])
