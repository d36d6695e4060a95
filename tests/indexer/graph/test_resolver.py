"""Calls resolve to their definitions: by scope, import, receiver, type, and what is passed."""

import pytest

from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, EXTERNAL, UNRESOLVED, ScopeRef
from tests.support.symbol_tables import SymbolTables


class Files(SymbolTables):
    """Tables of texts, and the edges between them."""

    def edges(self) -> set[tuple[str, str]]:
        resolver = Resolver(self)
        found = set()
        for path, file in self.files.items():
            for call in file.table.calls:
                resolver.start()
                for value in resolver.calls.targets(ScopeRef(path, call.scope), call):
                    if value.kind == DEFINITION:
                        caller = file.scope(call.scope).path
                        found.add((caller, self.files[value.path].scope(value.scope).path))
        return found


@pytest.mark.parametrize(
    ("texts", "edge"),
    [
        ({"a.py": "def f(): pass\ndef g():\n    f()\n"}, ("g", "f")),
        ({"a.py": "def f(): pass\n", "b.py": "from a import f as h\nh()\n"}, ("", "f")),
        ({"p/a.py": "def f(): pass\n", "p/b.py": "from . import a\na.f()\n"}, ("", "f")),
        (
            {
                "p/__init__.py": "from .a import *\n",
                "p/a.py": "def f(): 0\n",
                "b.py": "import p\np.f()\n",
            },
            ("", "f"),
        ),
        ({"a.py": "class C:\n def f(self): self.g()\n def g(self): 0\n"}, ("C.f", "C.g")),
        (
            {"a.py": "class B:\n def g(self): 0\nclass C(B):\n def f(self): self.g()\n"},
            ("C.f", "B.g"),
        ),
        (
            {"a.py": "class B:\n def f(self): 0\nclass C(B):\n def f(self): super().f()\n"},
            ("C.f", "B.f"),
        ),
        (
            {
                "a.py": "class D:\n def g(self): 0\nclass C:\n def __init__(self): self.d = D()\n"
                " def f(self): self.d.g()\n"
            },
            ("C.f", "D.g"),
        ),
        ({"a.py": "class C:\n def g(self): 0\ndef f(c: C): c.g()\n"}, ("f", "C.g")),
        ({"a.py": "class C:\n def g(self): 0\ndef f(c: 'C'): c.g()\n"}, ("f", "C.g")),
        (
            {"a.py": "class C:\n def g(self): 0\ndef m() -> C: ...\ndef f(): m().g()\n"},
            ("f", "C.g"),
        ),
        (
            {
                "a.py": "class C:\n def __enter__(self): return self\n def g(self): 0\n"
                "def f():\n with C() as c:\n  c.g()\n"
            },
            ("f", "C.g"),
        ),
        ({"a.py": "class C:\n def __call__(self): 0\ndef f(): C()()\n"}, ("f", "C.__call__")),
        ({"a.py": "class C:\n def __init__(self): 0\ndef f(): C()\n"}, ("f", "C.__init__")),
        ({"a.py": "def g(): 0\ndef f(cb): cb()\nf(g)\n"}, ("f", "g")),
        ({"a.py": "def g(): 0\nt = {'a': g}\ndef f(): t['a']()\n"}, ("f", "g")),
        (
            {"a.py": "def dec(x):\n def inner(): 0\n return inner\n@dec\ndef g(): 0\ng()\n"},
            ("", "dec.inner"),
        ),
    ],
)
def test_an_edge_is_found(texts: dict[str, str], edge: tuple[str, str]) -> None:
    assert edge in Files(texts).edges()


@pytest.mark.parametrize(
    ("texts", "edge"),
    [
        # The same name elsewhere is not called.
        ({"a.py": "def f(): 0\n", "b.py": "from x import f\nf()\n"}, ("", "f")),
        ({"a.py": "class C:\n def f(self): 0\nclass D:\n def f(self): 0\nD().f()\n"}, ("", "C.f")),
        ({"a.py": "def f(): 0\ndef g(f):\n    f()\n"}, ("g", "f")),
    ],
)
def test_a_name_alone_is_no_edge(texts: dict[str, str], edge: tuple[str, str]) -> None:
    assert edge not in Files(texts).edges()


def test_what_is_outside_is_known_to_be_outside_and_the_rest_is_unresolved() -> None:
    files = Files({"a.py": "import os\ndef f(x):\n    os.getcwd()\n    x.run()\n"})
    symbols = files.file("a.py")
    assert symbols is not None
    resolver = Resolver(files)
    kinds = [
        {value.kind for value in resolver.calls.targets(ScopeRef("a.py", call.scope), call)}
        for call in symbols.table.calls
    ]
    assert kinds == [{EXTERNAL}, {UNRESOLVED}]


@pytest.mark.parametrize(
    "text",
    [
        "x = x\nx()\n",
        "def f(): return f()\nf()()()\n",
        "class A(B): pass\nclass B(A): pass\nA().f()\n",
        "from a import *\nf()\n",
        "def f(x): return f(f(f(x)))\n" * 50 + "f(f(f(f(1))))\n",
        "a = b = c = a\n" * 200 + "c.d.e.f()\n",
        "f" + "(f" * 300 + ")" * 300 + "\n",
    ],
)
def test_code_that_goes_in_circles_ends(text: str) -> None:
    Files({"a.py": text}).edges()
