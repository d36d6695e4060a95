"""Calls of Go resolve by the types of declarations; what may run one of several is possible."""

import pytest

from ctx_indexer.graph.certainty import Certainty, certainty
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.go.interfaces import promised
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from ctx_indexer.syntax.symbols.table import (
    BLOCK,
    CLASS,
    FUNCTION,
)
from tests.support.symbol_tables import SymbolTables

TYPES = """
type A struct{}
func (a *A) Run() {}
func (a *A) Only() {}
type B struct{ n int }
func (b *B) Run() {}
func NewA() *A { return nil }
func NewB() (*B, error) { return nil, nil }
func pair() (a, b *A) { return }
func single() (a *A) { return }
"""


class Files(SymbolTables):
    """Tables of Go, and what their functions call."""

    def calls(self, caller: str) -> dict[str, Certainty]:
        """Return what a function calls, by the paths of the definitions."""
        resolver, found = Resolver(self), {}
        for path, file in self.files.items():
            for call in file.table.calls:
                place = ScopeRef(path, call.scope)
                if file.scope(call.scope).path != caller:
                    continue
                resolver.start()
                values = resolver.calls.targets(place, call)
                for value in values:
                    if value.kind == DEFINITION:
                        target = self.files[value.path].scope(value.scope)
                        found[target.path] = certainty(resolver, place, call, values)[0]
        return found

    def value(self, symbol: str) -> Value:
        """Return a definition by its path."""
        return next(
            Value(DEFINITION, path, number)
            for path, file in self.files.items()
            for number, scope in enumerate(file.table.scopes)
            if scope.path == symbol
        )


def called(body: str, before: str = "", parameters: str = "") -> dict[str, Certainty]:
    """Return what the body of a function calls, but for the functions that make instances."""
    text = f"package p\n{TYPES}\n{before}\nfunc f({parameters}) {{\n{body}\n}}\n"
    found = Files({"p.go": text}).calls("f")
    return {name: sure for name, sure in found.items() if "." in name}


@pytest.mark.parametrize(
    ("body", "callee"),
    [
        ("var x, y = pair()\ny.Run()\n_ = x", "A.Run"),
        ("x := single()\nx.Run()", "A.Run"),
        ("_, x := pair()\nx.Run()", "A.Run"),
        ("for _, x := range []*A{nil} {\nx.Run()\n}", "A.Run"),
        ("x := make(map[string]*A)\nx[k].Run()", "A.Run"),
        ("x := new(A)\nx.Run()", "A.Run"),
        ("x := make(chan *A)\ny := <-x\ny.Run()", "A.Run"),
        ("x := []*A{}\nfor _, y := range x[1:] {\ny.Run()\n}", "A.Run"),
        ("for _, x := range []struct{ a *A }{} {\nx.a.Run()\n}", "A.Run"),
        ("x := v.(*B)\nx.Run()", "B.Run"),
    ],
)
def test_a_declaration_says_the_type(body: str, callee: str) -> None:
    assert called(body) == {callee: Certainty.EXACT}


def test_a_variable_keeps_the_type_of_its_declaration() -> None:
    runner = "type Runner interface{ Run() }"
    assert called("var x Runner = NewA()\nx.Run()", runner) == {"Runner.Run": Certainty.EXACT}
    assert called("var x Runner\nx = NewA()\nx.Run()", runner) == {"Runner.Run": Certainty.EXACT}
    assert called("x[0] = other()\nx[0].Run()", parameters="x []*A") == {"A.Run": Certainty.EXACT}


def test_blocks_have_their_own_variables() -> None:
    body = "if x := NewA(); x != nil {\nx.Run()\n}\nif x := other.New(); x != nil {\nx.Only()\n}"
    assert called(body) == {"A.Run": Certainty.EXACT}
    shadowed = "for _, x := range x.all {\nx.Run()\n}"
    assert called(shadowed, "type All struct{ all []*A }", "x All") == {"A.Run": Certainty.EXACT}


def test_a_call_in_a_block_is_one_of_its_function() -> None:
    text = "package p\nfunc f() {\n x := 1\n if x := g(); x {\n x.Run()\n }\n}\n"
    file = Files({"p.go": text}).files["p.go"]
    numbers = {call.scope for call in file.table.calls}
    assert len(numbers) == 1 and file.scope(min(numbers)).kind == BLOCK
    assert file.scope(file.outside_blocks(min(numbers))).kind == FUNCTION


def test_a_case_of_a_type_switch_has_its_type() -> None:
    body = "switch x := x.(type) {\ncase *A:\nx.Only()\ncase *B:\nx.Run()\ndefault:\nx.Close()\n}"
    found = called(body, parameters="x any")
    assert found == {"A.Only": Certainty.EXACT, "B.Run": Certainty.EXACT}


def test_a_receiver_that_may_be_of_an_unknown_type_is_possible() -> None:
    body = "err := NewA()\nif err := other.New(); err != nil {\nerr.Run()\n}"
    assert called(body) == {"A.Run": Certainty.POSSIBLE}


def test_a_type_that_lacks_a_method_is_not_called() -> None:
    body = "ok := NewA()\nif ok, err := NewB(); err == nil {\nok.Only()\n}"
    assert called(body) == {"A.Only": Certainty.EXACT}


def test_a_declaration_names_what_it_hides() -> None:
    texts = {
        "store/s.go": "package store\ntype S struct{}\nfunc New() *S { return nil }\n"
        "func (s *S) Put() {}\n",
        "main.go": 'package main\nimport "example.com/m/store"\n'
        "func f() {\n store := store.New()\n store.Put()\n}\n",
    }
    found = Files(texts).calls("f")
    assert found == {"New": Certainty.EXACT, "S.Put": Certainty.EXACT}


def test_a_function_that_is_changed_elsewhere_is_possible() -> None:
    texts = {
        "a.go": "package p\nvar hook = usual\nfunc usual() {}\nfunc f() { hook() }\n",
        "b.go": "package p\nfunc Set(other func()) { hook = other }\n",
    }
    assert Files(texts).calls("f") == {"usual": Certainty.POSSIBLE}
    assert Files({"a.go": texts["a.go"]}).calls("f") == {"usual": Certainty.EXACT}


def test_a_closure_may_call_itself() -> None:
    text = (
        "package p\nfunc f() {\n var walk func(int)\n walk = func(n int) { walk(n) }\n walk(1)\n}"
    )
    assert Files({"a.go": text}).calls("f") == {"f.walk": Certainty.EXACT}
    assert Files({"a.go": text}).calls("f.walk") == {"f.walk": Certainty.EXACT}


@pytest.mark.parametrize(
    ("members", "expression", "callee"),
    [
        ("A *A", "h.A.Run()", "A.Run"),  # a field has the name of its type
        ("*A", "h.A.Run()", "A.Run"),  # an embedded field, too
        ("inner struct{ a *A }", "h.inner.a.Run()", "A.Run"),
        ("list List", "h.list[0].Run()", "A.Run"),
        ("Deep\nFlat", "h.Go()", "Flat.Go"),  # the nearer of embedded types
    ],
)
def test_members_have_their_types(members: str, expression: str, callee: str) -> None:
    before = (
        f"type H struct {{\n{members}\n}}\ntype List []*A\n"
        "type Deep struct{ Deeper }\ntype Deeper struct{}\nfunc (d Deeper) Go() {}\n"
        "type Flat struct{}\nfunc (f Flat) Go() {}\n"
    )
    assert called(expression, before, "h *H") == {callee: Certainty.EXACT}


def test_what_a_function_takes_hides_the_receiver() -> None:
    text = f"package p\n{TYPES}\nfunc (b *B) f() {{ each(func(b *A) {{ b.Run() }}) }}\n"
    assert Files({"a.go": text}).calls("B.f.<lambda1>") == {"A.Run": Certainty.EXACT}


def test_variadic_parameters_are_slices() -> None:
    assert called("for _, x := range all {\nx.Run()\n}", parameters="all ...*A") == {
        "A.Run": Certainty.EXACT
    }


def test_a_call_with_types_for_its_arguments_is_a_call() -> None:
    before = (
        "type C[K any] struct{}\nfunc (c *C[K]) Get() {}\n"
        "func New[K any](n int) *C[K] { return nil }"
    )
    for written in ("New[int](1)", "New[int, string](1)"):
        assert called(f"c := {written}\nc.Get()", before) == {"C.Get": Certainty.EXACT}


def test_packages_of_a_folder_and_of_the_library_are_told_apart() -> None:
    texts = {
        "errors/e.go": "package errors\nfunc New() {}\n",
        "json/j.go": "package json\nfunc Marshal() {}\nfunc own() {}\n",
        "json/j_test.go": 'package json_test\nimport . "example.com/m/json"\n'
        "func own() {}\nfunc f() {\n own()\n Marshal()\n}\n",
        "a.go": 'package m\nimport (\n "encoding/json"\n "errors"\n)\n'
        "func g() {\n errors.New()\n json.Marshal()\n}\n",
    }
    files = Files(texts)
    assert files.calls("g") == {}
    assert files.calls("f") == {"own": Certainty.EXACT, "Marshal": Certainty.EXACT}


def test_a_type_implements_the_interfaces_whose_methods_it_has() -> None:
    texts = {
        "a.go": f"package p\n{TYPES}",
        "b.go": "package p\ntype Runner interface{ Run() }\n"
        "type Both interface {\n Runner\n Only()\n}\ntype Other interface {\n Run()\n Walk()\n}\n",
    }
    files = Files(texts)
    resolver = Resolver(files)
    home = files.file("a.go")
    assert home is not None and home.scope(files.value("A").scope).kind == CLASS
    assert promised(resolver, files.value("A"), "Run") == {files.value("Runner.Run")}
    assert promised(resolver, files.value("A"), "Only") == {files.value("Both.Only")}
    assert promised(resolver, files.value("B"), "Only") == set()
