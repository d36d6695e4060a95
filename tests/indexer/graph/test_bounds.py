"""Files that are made to take long are answered in bounded time."""

import time
from typing import cast

import pytest

from ctx_indexer.graph.edges import SECONDS, CallSites
from ctx_indexer.graph.loading import LoadedTables
from ctx_indexer.graph.relations import Relations
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, Value
from tests.support.symbol_tables import SymbolTables

MANY = 2_000
MAX_SECONDS = 6 * SECONDS  # one call may begin just before the budget is spent
PYTHON = "class A:\n def f(self): 0\n"


def _repeated(text: str) -> str:
    return "".join(text.replace("#", str(number)) for number in range(MANY))


SAMPLES = {
    "overloads.java": "class A {\n"
    + _repeated("void f(Object... a#) {}\nvoid g#() { f(1, null); }\n")
    + "}",
    "ancestors.java": _repeated("class C# extends C1# { void f() {} }\n") + "class M { void g(C0 c)"
    " { c.f(); } }",
    "overloads.cpp": _repeated("struct T# {};\nvoid f(T# a, int b) {}\nvoid g#() { f(x, h()); }\n"),
    "members.js": "const o = {\n" + _repeated("f#() { this.f() },\n") + "f() {}};\no.f();\n",
    "values.js": "class A { f() {} }\nlet x;\n" + _repeated("x = x.y#;\nx.f();\n"),
    "embedded.go": "package p\n"
    + _repeated("type T# struct { *T1# }\n")
    + "func (t *T5) f() {}\nfunc g(t *T0) {\n"
    + _repeated("t.f()\n")
    + "}\n",
    "added.py": PYTHON + "x = []\n" + _repeated("x.append(x[#])\nfor y in x: y.f()\n"),
    "items.py": PYTHON + "x = {}\n" + _repeated("x[a#] = x[b#]\nx[c].f()\n"),
    "bound.py": PYTHON + _repeated("x = y\ny = x.z#\nx.f()\n"),
    "overloads.swift": "class A {\n" + _repeated("func f(l#: Int) { f(l#: 1, m: h()) }\n") + "}",
    "extensions.swift": "struct A {}\n" + _repeated("extension A { func f() { f() } }\n"),
    "protocols.swift": _repeated("protocol P#: P1# { func f() }\n")
    + _repeated("extension P# { func g() { f() } }\n"),
    "properties.py": PYTHON
    + _repeated("class B#(A):\n @property\n def f(self): return self.q\n")
    + "def g(a: A):\n"
    + _repeated(" a.f.f()\n"),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_callers_are_found_in_bounded_time(path: str) -> None:
    tables = SymbolTables({path: SAMPLES[path]})
    scopes = enumerate(tables.files[path].table.scopes)
    targets = [Value(DEFINITION, path, number) for number, each in scopes if each.name == "f"]
    started = time.process_time()
    sites = CallSites(cast(LoadedTables, tables), Resolver(tables), targets[:20])
    assert sites.find()
    sites.escapes()
    assert time.process_time() - started < MAX_SECONDS


def test_overrides_in_long_chains_are_found_in_bounded_time() -> None:
    heirs = "".join(f"class C{n + 1}(C{n}):\n def f(self): 0\n" for n in range(MANY))
    tables = SymbolTables({"a.py": "class C0:\n def f(self): 0\n" + heirs})
    names = [each.name for each in tables.files["a.py"].table.scopes]
    target = Value(DEFINITION, "a.py", names.index("f"))
    started = time.process_time()
    assert Relations(Resolver(tables), target).overrides()
    assert time.process_time() - started < 1
