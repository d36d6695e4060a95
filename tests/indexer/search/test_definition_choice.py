"""Which definition of a chunk a query means."""

import pytest

from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.schema.payload import ChunkPayload
from ctx_indexer.search.definition_choice import choose_definitions, is_named
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.search.query import parse_query
from ctx_indexer.source.classify import NO_FLAGS
from ctx_indexer.syntax.outline import outline

TEXT = '''"""Prices of the shop."""

import decimal

# the tax of most goods
RATE = 19
LIMIT = 20


class Basket:
    """Goods that are not paid yet."""

    def add(self, item):
        self.items.append(item)

    def total(self):
        return sum(item.price for item in self.items)


def round_price(value):
    return decimal.Decimal(value).quantize(2)
'''


def payloads() -> list[ChunkPayload]:
    return [
        ChunkPayload(
            repo="shop",
            path="prices.py",
            language="python",
            kind=each.kind,
            kinds=each.kinds,
            symbol=each.symbol,
            symbol_path=each.symbol_path,
            symbols=each.symbols,
            start_line=each.start_line,
            end_line=each.end_line,
            def_line=each.def_line,
            definitions=each.definitions,
            imports=(),
            calls=(),
            flags=NO_FLAGS,
            blob="",
            modified_at=0.0,
            indexed_at=0.0,
            text=each.text,
        )
        for each in chunk(outline(TEXT, "python"))
    ]


def chosen(query: str, line: int, **filters: tuple[str, ...]) -> tuple[str, str, int, int]:
    [held] = [each for each in payloads() if each.start_line <= line <= each.end_line]
    span = choose_definitions(held, parse_query(query), SearchFilters(**filters))[0]  # type: ignore[arg-type]
    return span.symbol, span.kind, span.start_line, span.end_line


@pytest.mark.parametrize(
    ("query", "line", "expected"),
    [
        ("Basket.total", 12, ("Basket.total", "method", 16, 17)),
        ("add", 12, ("Basket.add", "method", 13, 14)),
        ("basket", 12, ("Basket", "class", 10, 17)),
        ("append an item", 12, ("Basket.add", "method", 13, 14)),
        ("round a price to cents", 20, ("round_price", "function", 20, 21)),
        ("RATE", 6, ("RATE", "variable", 6, 6)),
        ("what is the limit", 6, ("LIMIT", "variable", 7, 7)),
    ],
)
def test_names_and_terms(query: str, line: int, expected: tuple[str, str, int, int]) -> None:
    assert chosen(query, line) == expected


def test_filters_choose_among_definitions() -> None:
    assert chosen("price", 12, symbols=("total",))[0] == "Basket.total"
    assert chosen("paid", 12, kinds=("comment",)) == ("Basket", "comment", 11, 11)
    assert chosen("tax", 5, kinds=("comment",)) == ("", "comment", 5, 5)
    assert chosen("decimal", 3, kinds=("import",)) == ("", "import", 3, 3)
    assert chosen("append", 12, kinds=("function",))[1] == "method"


def test_every_kind_of_a_chunk_is_known() -> None:
    kinds = {kind for each in payloads() for kind in each.kinds}
    assert kinds == {"class", "comment", "function", "import", "method", "variable"}


@pytest.mark.parametrize(
    ("symbol", "name", "named"),
    [
        ("Basket.total", "total", True),
        ("Basket.total", "Basket::total", True),
        ("Basket.total", "Basket#total()", True),
        ("Basket.subtotal", "total", False),
        ("Basket.total", "Shop.total", False),
        ("Basket.total", "", False),
    ],
)
def test_plain_and_qualified_names(symbol: str, name: str, named: bool) -> None:
    assert is_named(symbol, name) is named
