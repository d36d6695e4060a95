"""Declared types of Java choose what a call runs: overloads, ancestors, constructors, accessors."""

from typing import cast

import pytest

from ctx_indexer.graph.certainty import Certainty, certainty
from ctx_indexer.graph.edges import CallSites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from tests.support.symbol_tables import SymbolTables

Runs = tuple[set[int], Certainty]


class Files(SymbolTables):
    """Tables of texts of Java, by their numbers."""

    def __init__(self, *texts: str) -> None:
        super().__init__({f"{number}.java": text for number, text in enumerate(texts)})


def last_call_of(text: str, name: str, *others: str) -> Runs:
    """Return the lines of what the last call of a name may run, and how sure that is."""
    files = Files(text, *others)
    file, resolver = files.files["0.java"], Resolver(files)
    call = file.table.calls[file.calls[name][-1]]
    place = ScopeRef(file.path, call.scope)
    values = resolver.calls.targets(place, call)
    definitions = [value for value in values if value.kind == DEFINITION]
    lines = {files.files[value.path].scope(value.scope).start for value in definitions}
    return lines, certainty(resolver, place, call, values)[0]


def in_class(*lines: str) -> str:
    return "\n".join(["class Main {", *lines, "}"])


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("1", 2),
        ("1L", 3),
        ("'a'", 2),
        ("(byte) 1", 2),
        ("1.5f", 4),
        ("2 * 1.5f", 4),
        ('"a"', 5),
        ('"a" + 1', 5),
        ("x + x", 5),
        ("x.trim()", 5),
        ("x.length() + 1", 2),
        ("x == null", 8),
        ("!x.isEmpty()", 8),
        ("new int[] {1}", 6),
        ("new int[2][]", 7),
        ("new String[0]", 7),
        ("Main.class", 7),
        ("Integer.valueOf(1)", 7),
        ("Double.NaN", 9),
        ("/* why */ this", 7),
        ("b ? 1 : 2", 2),
    ],
)
def test_an_overload_is_chosen_by_its_argument(argument: str, line: int) -> None:
    text = in_class(
        "void put(int a) {}",
        "void put(long a) {}",
        "void put(float a) {}",
        "void put(String a) {}",
        "void put(int[] a) {}",
        "void put(Object a) {}",
        "void put(boolean a) {}",
        "void put(double a) {}",
        "void put(Number... a) {}",
        f"void run(String x, boolean b) {{\n put({argument}); }}",
    )
    found, sureness = last_call_of(text, "put")
    assert (found, sureness) == ({line}, Certainty.EXACT)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["void put(Object a) {}", "void put(String a) {}", "void f() { put(null); }"], {3}),
        (["void put(Object a) {}", "void put(int... a) {}", "void f() { put(1); }"], {2}),
        (["void put(int... a) {}", "void put(int a, int b) {}", "void f() { put(1, 2, 3); }"], {2}),
        (["void put(long a) {}", "void put(Integer a) {}", "void f() { put(1); }"], {2}),
        (["<T> void put(T a) {}", "void put(T[] a) {}", "void f(int[] a) { put(a); }"], {2}),
        (["void put(Runnable a) {}", "void put(String a) {}", "void f() { put(() -> {}); }"], {2}),
        (
            [
                "void put(java.util.function.Function<A, B> a) {}",
                "void put(Runnable a) {}",
                "void f() { put(a -> null); }",
            ],
            {2},
        ),
        (["void put(Date a) {}", "void put(Calendar a) {}", "void f(Calendar c) { put(c); }"], {3}),
        (["void put(Date a) {}", "void put(Calendar a) {}", "void f(T c) { put(c); }"], {2, 3}),
    ],
)
def test_the_most_specific_overload_is_chosen(lines: list[str], expected: set[int]) -> None:
    found, sureness = last_call_of(in_class(*lines), "put")
    assert found == expected
    assert (sureness is Certainty.EXACT) == (len(expected) == 1)


SHAPE = "class Shape {\nvoid draw() {}\nvoid draw(int a) {}\nprivate void hide() {}\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            SHAPE + "class Round extends Shape { void draw(String a) {}\nvoid f() { draw(1); } }",
            {3},
        ),
        (
            SHAPE + "class Round extends Shape {}\nclass M { void f() {\n new Round().draw(); } }",
            {2},
        ),
        (SHAPE + "class M { Object draw;\nvoid f(Shape draw) {\n draw.draw(); } }", {2}),
        (SHAPE + "class M { void f(Object a) {\n ((Shape) a).draw(); } }", {2}),
        (SHAPE + "class M { void f(Object a) {\n if (a instanceof Shape s) s.draw(); } }", {2}),
        (SHAPE + "class M { Shape[] all;\nvoid f() {\n all[0].draw(); } }", {2}),
        (SHAPE + "class M { Optional<Shape> one;\nvoid f() {\n one.get().draw(); } }", {2}),
        (SHAPE + "class M { Class<Shape> one;\nvoid f() {\n one.draw(); } }", set()),
        (SHAPE + "class M<T extends Shape> { void f(T a) {\n a.draw(); } }", {2}),
        (SHAPE + "class M<Shape> { void f(Shape a) {\n a.draw(); } }", set()),
        (
            SHAPE
            + "class M { class In { void f() {\n M.this.g(); } }\nShape g() {\n return null; } }",
            {8},
        ),
    ],
)
def test_a_receiver_leads_to_its_method(text: str, expected: set[int]) -> None:
    name = "g" if "M.this" in text else "draw"
    assert last_call_of(text, name) == (expected, Certainty.EXACT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A { A(int a) {} }\nclass B extends A {}\nclass C { Object f = new B(); }", {2}),
        ("class A {\nA(int a) {}\nA(String a) {} }\nclass C { Object f = new A(1) {}; }", {2}),
        (
            "interface A {}\nclass B implements A { B() {} }\nclass C { Object f = new A() {}; }",
            {1},
        ),
    ],
)
def test_constructors_are_not_inherited(text: str, expected: set[int]) -> None:
    name = text.partition("new ")[2].partition("(")[0]
    assert last_call_of(text, name) == (expected, Certainty.EXACT)


def test_a_private_overload_of_another_file_is_not_seen() -> None:
    text = "class A {\nprivate void put(String a) {}\nvoid put(Object a) {} }"
    caller = 'class B { void f(A a) { a.put("a"); } }'
    assert last_call_of(caller, "put", text) == ({3}, Certainty.EXACT)


@pytest.mark.parametrize(
    ("below", "call", "sure"),
    [
        ("void draw() {}", "shape.draw()", False),
        ("void draw(String a) {}", "shape.draw()", True),
        ("void draw(int a) {}", "shape.draw()", True),
        ("void hide() {}", "shape.hide()", True),
        ("void draw() {}", "new Shape().draw()", True),
    ],
)
def test_a_call_is_exact_where_no_subclass_replaces_it(below: str, call: str, sure: bool) -> None:
    text = f"{SHAPE}class Round extends Shape {{ {below} }}\n"
    text += f"class M {{ void f(Shape shape) {{ {call}; }} }}"
    name = call.rpartition(".")[2].removesuffix("()")
    found, sureness = last_call_of(text, name)
    assert len(found) == 1
    assert (sureness is Certainty.EXACT) == sure


@pytest.mark.parametrize(
    "below",
    [
        "class B extends A { void g() {} }",
        "class B extends A {}\nclass C extends B { void g() {} }",
        "class M { A a = new A() { void g() {} }; }",
    ],
)
def test_its_own_instance_may_be_of_a_subclass(below: str) -> None:
    text = f"class A {{ void f() {{ g(); }}\nvoid g() {{}} }}\n{below}"
    assert last_call_of(text, "g") == ({2}, Certainty.POSSIBLE)


def test_the_body_of_a_constant_replaces_methods_of_its_enumeration() -> None:
    text = "enum E { ONE { void g() {} };\nvoid g() {} }\nclass M { void f() { E.ONE.g(); } }"
    assert last_call_of(text, "g") == ({2}, Certainty.POSSIBLE)


def test_a_member_of_an_annotation_is_called() -> None:
    text = "@interface A {\nString value(); }\nclass M { void f(A a) { a.value(); } }"
    assert last_call_of(text, "value") == ({2}, Certainty.EXACT)


def sites_of(text: str, *symbols: str) -> list[tuple[int, Certainty]]:
    """Return the lines that call what is asked for, all definitions of some names."""
    files = Files(text)
    scopes = list(enumerate(files.files["0.java"].table.scopes))
    asked = [Value(DEFINITION, "0.java", n) for n, scope in scopes if scope.path in symbols]
    found = CallSites(cast(LoadedTables, files), Resolver(files), asked).find()
    return [(site.line, site.certainty) for site in found]


def test_overloads_that_are_all_asked_for_are_called_for_sure() -> None:
    text = "class A {\nvoid g(Date a) {}\nvoid g(Calendar a) {}\nvoid f(T t) {\n g(t); } }"
    assert sites_of(text, "A.g") == [(5, Certainty.EXACT)]


def test_a_class_is_constructed_for_sure_by_whichever_constructor() -> None:
    text = "class A {\nA(Date a) {}\nA(Calendar a) {}\nvoid f(T t) {\n new A(t); } }"
    assert sites_of(text, "A") == [(5, Certainty.EXACT)]
    assert sites_of(text, "A.A") == [(5, Certainty.EXACT)]


def test_a_method_may_be_called_by_the_one_that_it_replaces() -> None:
    text = (
        "class A { void g() {}\nvoid g(int a) {} }\nclass B extends A { void g() {} }\n"
        "class M { void f(A a) {\n a.g();\n a.g(1); } }"
    )
    assert sites_of(text, "B.g") == [(5, Certainty.POSSIBLE)]
