"""Properties run where attributes are read and assigned, also before a call."""

import pytest

from ctx_indexer.graph.accessors import SURE
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import ScopeRef
from ctx_indexer.syntax.symbols.table import ASSIGNED
from tests.indexer.graph.test_resolver import Files

C = """class C:
 @property
 def p(self): return D()
 @p.setter
 def p(self, value): 0
class D:
 def run(self): 0
"""
OTHER = "class E(C):\n @property\n def p(self): 1\n"
SETTING = "class S(C):\n def __setattr__(self, name, value): 0\n"


def _uses(text: str, name: str) -> list[tuple[int, int, bool]]:
    """Return the line of each use, that of what it runs, and whether it is sure."""
    files = Files({"a.py": text})
    file, resolver = files.file("a.py"), Resolver(files)
    assert file is not None
    found: set[tuple[int, int, bool]] = set()
    for use in file.uses(name):
        assigned = use.how == ASSIGNED
        run = resolver.accessors.run(ScopeRef("a.py", use.scope), use.value, assigned=assigned)
        lines = ((file.scope(value.scope).start, caveat == SURE) for value, caveat in run.items())
        found |= {(use.line, *each) for each in lines}
    return sorted(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(c: C): return c.p\n", [(8, 3, True)]),
        ("def f(c: C):\n c.p\n c.p\n", [(9, 3, True), (10, 3, True)]),
        ("def f(c: C): c.p.run()\n", [(8, 3, True)]),
        ("def f(): C().p.run().x\n", [(8, 3, True)]),
        ("def f(c: C): c.p = 1\n", [(8, 5, True)]),
        ("def f(c: C): c.p, x = 1, 2\n", [(8, 5, True)]),
        ("def f(c: C): c.p.x = 1\n", [(8, 3, True)]),
        (OTHER + "def f(c: C): c.p\n", [(11, 3, False), (11, 10, False)]),
        (OTHER + "def f(): C().p\n", [(11, 3, True)]),
        (SETTING + "def f(s: S): s.p = 1\n", [(10, 5, False), (10, 9, True)]),
    ],
)
def test_a_property_runs_where_it_is_used(text: str, expected: list[tuple[int, int, bool]]) -> None:
    assert _uses(C + text, "p") == expected


def test_an_abstract_property_is_not_sure() -> None:
    text = "class A:\n @property\n @abstractmethod\n def p(self): ...\ndef f(a: A): a.p\n"
    assert _uses(text, "p") == [(5, 4, False)]


def test_a_write_of_any_attribute_is_a_use_of_its_setting() -> None:
    assert _uses(C + SETTING + "def f(s: S): s.x = 1\n", "__setattr__") == [(10, 9, True)]
