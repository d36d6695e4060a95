"""Swift: labels, extensions, modules, and code that grammars or names hide."""

from typing import cast

import pytest

from ctx_indexer.graph.edges import CallSites
from ctx_indexer.graph.importers import import_sites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, Value
from ctx_indexer.languages.swift.calls import fits
from ctx_indexer.languages.swift.imports import swift_imports
from ctx_indexer.languages.swift.modules import module_of
from ctx_indexer.syntax.symbols.table import BY_NAME, LAMBDA, Expression, Parameter
from tests.support.symbol_tables import SymbolTables

SHOP, APP = "Sources/Shop/Cart.swift", "Sources/App/main.swift"
CART = """struct Cart {
    init(size: Int) {}
    func add(_ n: Int) {}
    func add(_ n: Int, to other: Cart) {}
    func price() -> Int { 1 }
}
"""


def _target(tables: SymbolTables, path: str, start: int) -> Value:
    scopes = tables.files[path].table.scopes
    [number] = [n for n, each in enumerate(scopes) if each.start == start and each.name]
    return Value(DEFINITION, path, number)


def sites(tables: SymbolTables, target: Value) -> CallSites:
    return CallSites(cast(LoadedTables, tables), Resolver(tables), [target])


def callers(text: str, start: int, path: str = SHOP) -> list[tuple[int, str]]:
    """Return the line of each call of the definition that starts in a line, and how sure it is."""
    tables = SymbolTables({path: text})
    found = sites(tables, _target(tables, path, start)).find()
    return [(each.line, each.certainty.value) for each in found]


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("func f(c: Cart) { c.add(1) }", 3, "exact"),
        ("func f(c: Cart) { c.add(1) }", 4, ""),
        ("func f(c: Cart) { c.add(1, to: c) }", 4, "exact"),
        ("func f(c: Cart) { c.add(1, from: c) }", 4, "possible"),
        ("func f() { Cart(size: 1).add(1) }", 2, "exact"),
        ("func f() { let c: Cart = .init(size: 1) }", 3, ""),
        # The names of properties, variables and parameters that hide others.
        ("func f(c: Cart) { let price = c.price() }", 5, "exact"),
        ("func f(c: Cart?) { if let c { c.add(1) } }", 3, "exact"),
        ("func f(c: Cart?) { if let c = c { c.add(1) } }", 3, "exact"),
        ("func f(c: Cart?) { guard let d = c else { return }; d.add(1) }", 3, "exact"),
        ("class A { let c: Cart; func f() { if let c = c.next() { c.add(1) } } }", 3, "possible"),
        ("func f(add: (Int) -> Void) { add(1) }", 3, "possible"),
        # A variable that is named like the attribute it takes hides no other name.
        (
            "struct S { let c: Cart; func s() -> S { self } }\n"
            "func f(s: S) { let c = s.s().c; c.add(1) }",
            3,
            "exact",
        ),
        # Receivers that the code does not tell.
        ("func f(cs: [Cart]) { cs.forEach { $0.add(1) } }", 3, "possible"),
        ("func f(cs: [Cart]) { cs.first?.add(1) }", 3, "exact"),
        ("func f(cs: [Cart]) { for c in cs { c.add(1) } }", 3, "exact"),
        ("func f() { find().add(1) }", 3, "possible"),
        ("func f(s: String) { s.trimmed().add(1) }", 3, "possible"),
        # Operators bind a call to their right side.
        ("func f(c: Cart) { let n = 1 + c.price() }", 5, "exact"),
        ("func f(c: Cart) { if !c.price().isZero {} }", 5, "exact"),
        # Syntax that the grammar does not know.
        ("func f(c: Cart) throws(Failed) { c.add(1) }", 3, "exact"),
        ("func f(c: sending Cart, at: Int = #_line) { c.add(1) }", 3, "exact"),
    ],
)
def test_a_call(text: str, start: int, expected: str) -> None:
    assert [sureness for _, sureness in callers(CART + text, start)] == [expected] * bool(expected)


def test_branches_of_a_condition_are_all_read() -> None:
    text = """final class A: B {
    #if os(iOS)
    func f() { g() }
    #elseif os(macOS)
    func h() { g() }
    #endif
    func g() {}
}
"""
    assert callers(text, 7) == [(3, "exact"), (5, "exact")]


def test_an_extension_adds_constructors_and_methods_to_a_type_of_another_file() -> None:
    texts = {
        SHOP: CART,
        APP: "import Shop\nextension Cart {\n  init(text: String) { self.init(size: 1) }\n"
        '  func all() { add(1) }\n}\nfunc f() { Cart(text: "").all() }\n',
    }
    tables = SymbolTables(texts)
    called = [
        [(each.path, each.line) for each in sites(tables, _target(tables, *target)).find()]
        for target in ((SHOP, 2), (SHOP, 3), (APP, 3), (APP, 4))
    ]
    assert called == [[(APP, 3)], [(APP, 4)], [(APP, 6)], [(APP, 6)]]


def test_a_member_that_an_extension_adds_to_a_type_from_outside_may_be_called() -> None:
    text = 'extension Collection { func slug() {} }\nfunc f(s: String) { s.slug(); "a".slug() }\n'
    assert callers(text, 1) == [(2, "possible"), (2, "possible")]


@pytest.mark.parametrize("member", ["init() {}", "deinit {}", "subscript(n: Int) -> Int { n }"])
def test_members_that_run_without_their_name_make_an_answer_incomplete(member: str) -> None:
    tables = SymbolTables({SHOP: f"class A {{\n  {member}\n}}\n"})
    assert [each.line for each in sites(tables, _target(tables, SHOP, 2)).escapes()] == [2]


@pytest.mark.parametrize("kind", ["class", "struct", "enum"])
def test_a_type_may_be_constructed_where_a_place_expects_it(kind: str) -> None:
    tables = SymbolTables({SHOP: f"{kind} A {{}}\nfunc f(a: A = .init()) {{}}\n"})
    assert [each.line for each in sites(tables, _target(tables, SHOP, 1)).escapes()] == [1]


@pytest.mark.parametrize("text", ["protocol A {}\n", "private class A {}\nlet a = A()\n"])
def test_protocols_and_private_types_of_a_file_without_init_are_complete(text: str) -> None:
    tables = SymbolTables({SHOP: text})
    assert not sites(tables, _target(tables, SHOP, 1)).escapes()


def test_a_private_name_is_not_seen_by_other_files() -> None:
    texts = {
        SHOP: "private func f() {}\nfunc g() { f() }\n",
        "Sources/Shop/Other.swift": "func h() { f() }\n",
    }
    tables = SymbolTables(texts)
    found = sites(tables, _target(tables, SHOP, 1)).find()
    assert [(each.path, each.line) for each in found] == [(SHOP, 2)]


def test_a_module_sees_its_own_names_before_those_it_imports() -> None:
    texts = {
        SHOP: "func f() {}\n",
        "Sources/App/own.swift": "func f() {}\n",
        APP: "import Shop\nfunc g() { f(); Shop.f() }\n",
        "Tests/ShopTests/a.swift": "@testable import Shop\nfunc t() { f() }\n",
    }
    tables = SymbolTables(texts)
    own = sites(tables, _target(tables, "Sources/App/own.swift", 1)).find()
    assert [(each.path, each.certainty) for each in own] == [(APP, "exact")]
    theirs = sites(tables, _target(tables, SHOP, 1)).find()
    assert [each.path for each in theirs] == [APP, "Tests/ShopTests/a.swift"]


def test_importers_of_a_definition() -> None:
    texts = {
        SHOP: CART,
        APP: "import Shop\nlet c = Cart(size: 1)\n",
        "Sources/App/one.swift": "import struct Shop.Cart\nfunc f(c: Cart) {}\n",
        "Sources/App/none.swift": "import Other\nlet c = Cart(size: 1)\n",
    }
    tables = SymbolTables(texts)
    found = import_sites(Resolver(tables), _target(tables, SHOP, 1))
    assert [(each.path, each.line, each.unsure) for each in found] == [
        (APP, 1, ""),
        ("Sources/App/one.swift", 1, ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import Shop", [("*", "Shop", "*")]),
        ("@testable @_exported import Shop // all of it", [("*", "Shop", "*")]),
        ("import struct Shop.Cart", [("Cart", "Shop", "Cart")]),
        ("public import func Shop.Inner.f;", [("f", "Shop.Inner", "f")]),
        ("import", []),
        ("import struct Cart", []),
    ],
)
def test_imports(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [tuple(each) for each in swift_imports(text)] == expected


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("Sources/Shop/Models/Cart.swift", "Shop"),
        ("packages/a/Tests/ShopTests/b.swift", "ShopTests"),
        ("Sources/main.swift", ""),
        ("App/View.swift", ""),
    ],
)
def test_modules(path: str, module: str) -> None:
    assert module_of(path) == module


def _parameters(text: str) -> list[Parameter]:
    """Read `_ at= *rest`: labels; `=` marks a default, a star one that takes the rest."""
    labels = text.split()
    return [Parameter(each.rstrip("="), default="1" if "=" in each else "") for each in labels]


def _arguments(text: str) -> list[Expression]:
    """Read `_ at {`: labels; a brace is a closure behind the others."""
    known: dict[str, Expression] = {"_": "x", "{": [LAMBDA, 1]}
    return [known.get(each, [BY_NAME, each, "x"]) for each in text.split()]


@pytest.mark.parametrize(
    ("parameters", "arguments", "fitting"),
    [
        ("", "", True),
        ("", "_", False),
        ("_", "_", True),
        ("_", "at", False),
        ("at", "_", False),
        ("_ at", "_ at", True),
        ("_ at", "at _", False),
        ("_ at=", "_", True),
        ("_= at= to", "to", True),
        ("_= at= to", "at", False),
        ("*_", "", True),
        ("*_ at=", "_ _ _ at", True),
        ("*_ at", "_ _", False),
        ("_ body", "_ {", True),
        ("body", "{", True),
        ("_ at= body", "_ {", True),
        ("_ body done=", "_ {", True),
        ("_ body=", "_ {", True),
        ("_ body done", "_ { done", True),
        ("_", "_ {", False),
    ],
)
def test_labels_choose_a_function(parameters: str, arguments: str, fitting: bool) -> None:
    assert fits(_parameters(parameters), _arguments(arguments)) is fitting
