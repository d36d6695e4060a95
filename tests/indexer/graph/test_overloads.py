"""A call that may run one of several overloads is a possible call of each of them."""

from typing import cast

import pytest

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.edges import CallSites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.files import FileSymbols
from ctx_indexer.languages.semantics.registry import file_symbols
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from ctx_indexer.syntax.outline import outline

SAMPLES = {
    "csharp": "class A {\nvoid G(int a) {}\nvoid G(string a) {}\nvoid F() { G(other.Value); } }",
    "kotlin": "class A {\nfun G(a: Int) {}\nfun G(a: String) {}\nfun F() { G(other.value) } }",
    "java": "class A {\nvoid G(int a) {}\nvoid G(String a) {}\nvoid F() { G(other.value); } }",
}


class Table:
    """The symbols of one file, for a resolver."""

    misses = 0

    def __init__(self, text: str, language: str) -> None:
        table = outline(text, language, with_symbols=True).symbols
        assert table is not None
        self.symbols = file_symbols("a", table)

    def file(self, path: str) -> FileSymbols | None:
        return self.symbols if path == "a" else None

    def callers(self, name: str) -> list[FileSymbols]:
        return [self.symbols]

    few_callers = definers = callers


@pytest.mark.parametrize("language", SAMPLES)
def test_one_overload_is_possible_and_all_of_them_are_exact(language: str) -> None:
    tables = Table(SAMPLES[language], language)
    scopes = enumerate(tables.symbols.table.scopes)
    both = [Value(DEFINITION, "a", number) for number, scope in scopes if scope.name == "G"]
    assert len(both) == 2
    assert _sureness(tables, both) == [Certainty.EXACT]
    assert _sureness(tables, both[:1]) == [Certainty.POSSIBLE]


def _sureness(tables: Table, asked: list[Value]) -> list[Certainty]:
    sites = CallSites(cast(LoadedTables, tables), Resolver(tables), asked).find()
    return [site.certainty for site in sites]


@pytest.mark.parametrize(
    ("call", "line"),
    [("G(1)", 2), ('G("a")', 3), ('G("a", "b", "c")', 4), ("new G()", 0), ("new A(1)", 5)],
)
def test_defaults_and_the_rest_count_in_csharp(call: str, line: int) -> None:
    text = (
        "class A {\nvoid G(int a, int b = 0) {}\nvoid G(string a, bool b = false) {}\n"
        f"void G(string a, params string[] b) {{}}\nA(int a) {{}}\nvoid F() {{ {call}; }} }}"
    )
    found = _lines(text, "csharp")
    assert line in found if line else not found


@pytest.mark.parametrize(
    ("call", "line"), [("G(1)", 2), ('G("a", true)', 3), ('G("a", "b", "c")', 4)]
)
def test_defaults_and_the_rest_count_in_kotlin(call: str, line: int) -> None:
    text = (
        "class A {\nfun G(a: Int, b: Int = 0) {}\nfun G(a: String, b: Boolean = false) {}\n"
        f"fun G(vararg a: String) {{}}\nfun F() {{ {call} }} }}"
    )
    assert line in _lines(text, "kotlin")


def _lines(text: str, language: str) -> set[int]:
    """Return where the definitions begin that the last call of a text may run."""
    tables = Table(text, language)
    call, resolver = tables.symbols.table.calls[-1], Resolver(tables)
    values = resolver.calls.targets(ScopeRef("a", call.scope), call)
    return {tables.symbols.scope(v.scope).start for v in values if v.kind == DEFINITION}
