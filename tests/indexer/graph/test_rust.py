"""Imports of Rust."""

import pytest

from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from tests.support.symbol_tables import SymbolTables

CALLS = """pub struct Cart;
impl Cart { pub fn new() {} }
fn run() { Cart::new(); http::new(); b::new(); }
"""


def called(text: str) -> list[Value]:
    """Return what each call of `lib.rs` runs, call by call."""
    tables = SymbolTables({"lib.rs": text})
    resolver = Resolver(tables)
    calls = tables.files["lib.rs"].table.calls
    found = [resolver.calls.targets(ScopeRef("lib.rs", call.scope), call) for call in calls]
    return [value for values in found for value in values if value.kind == DEFINITION]


@pytest.mark.parametrize(
    "imports",
    ["use http;", "pub use http;", "use a as b; use b as a;", "use b as b;", "use http; use http;"],
)
def test_a_name_that_an_import_binds_to_itself_is_a_crate(imports: str) -> None:
    [own] = called(f"{imports}\n{CALLS}")
    assert own.path == "lib.rs"


def test_another_name_of_an_item_is_that_item() -> None:
    assert len(called(f"use Cart as C;\nuse C as b;\n{CALLS}")) == 2
