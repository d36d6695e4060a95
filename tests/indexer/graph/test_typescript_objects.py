"""JavaScript and TypeScript: members of objects, names that hide others, types that lead on."""

from typing import cast

import pytest

from ctx_indexer.graph.certainty import Certainty, certainty
from ctx_indexer.graph.edges import CallSites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from ctx_indexer.languages.web.imports import javascript_imports
from ctx_indexer.syntax.symbols.spec import ImportedName
from tests.support.symbol_tables import SymbolTables

C = "class C { g() {} }\n"
SURE, UNSURE, ELSEWHERE = "sure", "unsure", "elsewhere"


class Texts(SymbolTables):
    """Tables of texts, whose paths are given with `_` for the dot."""

    def __init__(self, **texts: str) -> None:
        super().__init__({name.replace("_", "."): text for name, text in texts.items()})


def _last(text: str, path: str = "a.ts", **others: str) -> tuple[set[int], str]:
    """Return the lines of the definitions that the last call runs, and how sure that is."""
    files = Texts(**{path.replace(".", "_"): text}, **others)
    file = files.file(path)
    assert file is not None
    resolver = Resolver(files)
    call = max(enumerate(file.table.calls), key=lambda each: (each[1].line, each[0]))[1]
    place = ScopeRef(path, call.scope)
    values = resolver.calls.targets(place, call)
    found = [each for each in values if each.kind == DEFINITION]
    homes = [(home, each) for each in found if (home := files.file(each.path))]
    lines = {home.scope(each.scope).start for home, each in homes}
    if not lines:
        return lines, ELSEWHERE
    is_sure = certainty(resolver, place, call, values)[0] is Certainty.EXACT
    return lines, SURE if is_sure else UNSURE


@pytest.mark.parametrize(
    "text",
    [
        "const o = {\n g() {} };\ng()\n",
        "const o = {\n g: () => 1 };\ng()\n",
        "o.g = function () {}\ng()\n",
        "import { g } from './b'\nfunction f({ g }) {\n g() }\n",
        "import { g } from './b'\nfunction f(x) { const { g = 1 } = x;\n g() }\n",
        "function g() {}\nfunction f() { let g;\n g() }\n",
        "function g() {}\nfunction f(x: { g: number }) { const g = `x`;\n g() }\n",
    ],
)
def test_a_member_or_a_hidden_name_is_not_called_by_its_plain_name(text: str) -> None:
    assert _last(text, b_ts="export function g() {}\n") == (set(), ELSEWHERE)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("const o = {\n g() {},\n f() {\n  this.g() } };\n", 2),
        ("const app = {};\napp.g = function () {};\napp.f = function () {\n this.g() };\n", 2),
        ("function F() {}\nF.g = () => 1;\nF.g()\n", 2),
        ("exports.f = function g(n) {\n g(n - 1) }\n", 1),
        ("const $o = {\n $g() {} };\n$o.$g()\n", 2),
        ("const o = {" + "a: 1, " * 60 + "\n g() {} };\no.g()\n", 2),
    ],
)
def test_a_member_of_an_object_is_found(text: str, line: int) -> None:
    assert _last(text, "a.js") == ({line}, SURE)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("class C {\n g() {}\n static g() {} }\nC.g()\n", 3),
        ("class C {\n g() {}\n static g() {} }\nnew C().g()\n", 2),
        ("class C {\n static g() {}\n static f() {\n this.g() } }\n", 2),
        (C + "class D { get c(): C { return x } }\nnew D().c.g()\n", 1),
        (
            "class B { me(): this { return this } }\nclass C extends B { g() {} }\n"
            "new C().me().g()\n",
            2,
        ),
        (C + "function f(o: { c: C | null }) {\n o.c.g() }\n", 1),
        (C + "function f({ c }: { c: C }) {\n c.g() }\n", 1),
        (C + "type O = { c: C };\nfunction f(o: O & P) {\n o.c.g() }\n", 1),
        (C + "function f(cs: C[]) {\n cs.forEach((c) =>\n c.g()) }\n", 1),
        (C + "async function f(): Promise<C> {}\nf().then((c) =>\n c.g())\n", 1),
        (C + "function f(k: typeof C) {\n new k().g() }\n", 1),
        (C + "type O = { m: C['g'] };\nfunction f(o: O) {\n o.m() }\n", 1),
        (C + "function f(this: C) {\n this.g() }\n", 1),
        ("interface G { (): void }\nconst g: G = () => 1;\ng()\n", 2),
        ("interface g { x: 1 }\nfunction g() {}\ng()\n", 2),
        ("const C = class {\n g() {} };\nnew C().g()\n", 2),
        (C + "const f = (x: boolean) => x ? new C() : undefined;\nf(true).g()\n", 1),
    ],
)
def test_a_type_of_typescript_leads_to_its_member(text: str, line: int) -> None:
    assert _last(text) == ({line}, SURE)


@pytest.mark.parametrize(
    "text",
    [
        "const o = x ? {\n g() {} } : {\n g() {} };\no.g()\n",
        "class C {\n g() {}\n f() {\n this.g() } }\nclass D extends C { g() {} }\n",
    ],
)
def test_a_call_of_one_of_several_bodies_is_possible(text: str) -> None:
    assert _last(text)[1] == UNSURE


def test_a_declared_type_says_more_than_what_is_assigned() -> None:
    types = "interface I {\n g(): void }\nclass C implements I {\n g() {} }\n"
    text = types + "let c: I = new C();\nc.g()\n"
    assert _last(text) == ({2}, UNSURE)  # the class may run instead


def test_overloads_of_one_function_are_one() -> None:
    text = (
        "function g(a: string): void;\nfunction g(a: number): void;\nfunction g(a: any) {}\ng(1)\n"
    )
    lines, sureness = _last(text)
    assert 3 in lines
    assert sureness == SURE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g = require('./b').h", ImportedName("g", "./b", "h")),
        ("g = require('./b')", ImportedName("g", "./b", "")),
        ("{ g } = await import('./b')", ImportedName("g", "./b", "g")),
        ("b = await import('./b')", ImportedName("b", "./b", "")),
    ],
)
def test_a_module_that_an_expression_gives_is_imported(text: str, expected: ImportedName) -> None:
    assert list(javascript_imports(text)) == [expected]


def test_a_getter_is_read_where_no_call_shows_it() -> None:
    tables = Texts(a_ts="class A {\n get size() { return 1 }\n}\nfunction g(a: A) { h(a.size) }\n")
    scopes = enumerate(tables.files["a.ts"].table.scopes)
    targets = [Value(DEFINITION, "a.ts", number) for number, each in scopes if each.name == "size"]
    sites = CallSites(cast(LoadedTables, tables), Resolver(tables), targets)
    assert [(each.line, each.how) for each in sites.escapes()] == [(2, "read as an attribute")]
