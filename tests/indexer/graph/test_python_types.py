"""Python's types lead to definitions: annotations, generic bases, loops, functions that pass on."""

import pytest

from ctx_indexer.graph.certainty import Certainty, certainty
from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.python.annotations import python_type
from ctx_indexer.languages.semantics.values import DEFINITION, UNRESOLVED, ScopeRef
from tests.indexer.graph.test_resolver import Files

C = "class C:\n def g(self): 0\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C", "C"),
        ("'a.C'", "a.C"),
        ("Optional[C]", "C"),
        ("C | None", "C"),
        ("Union['C', D, None]", ["|", "C", "D"]),
        ("t.List[C]", ["<", "t.List", "C"]),
        ("'dict[str, C]'", ["<", "dict", "str", "C"]),
        ("tuple[C, ...]", ["<", "tuple", "C"]),
        ("Tuple[C, D]", ["<", "()", "C", "D"]),
        ("Type[C]", ["<", "type", "C"]),
        ("Generator[C, None, D]", ["<", "Generator", "C"]),
        ("Callable[[int], C]", ""),
        ("Any", ""),
        ("no type at all", ""),
        ("[" * 200 + "]" * 200, ""),
        ("C" * 1_000, ""),
    ],
)
def test_an_annotation_is_read(text: str, expected: object) -> None:
    assert python_type(text) == expected


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        (C + "def f(c: Optional['C'] = None): c.g()\n", ("f", "C.g")),
        (C + "def f(c: 'C | None'): c.g()\n", ("f", "C.g")),
        (C + "def f(many: list[C]):\n for c in many: c.g()\n", ("f", "C.g")),
        (C + "def f(many: dict[str, C]):\n for k, c in many.items(): c.g()\n", ("f", "C.g")),
        (C + "def f(many: dict[C, str]):\n for c in many: c.g()\n", ("f", "C.g")),
        (C + "def f(many: list[C]):\n for i, c in enumerate(many): c.g()\n", ("f", "C.g")),
        (C + "def f(a, many: list[C]):\n for x, c in zip(a, many): c.g()\n", ("f", "C.g")),
        (C + "def f(many: set[C]):\n for c in sorted(many): c.g()\n", ("f", "C.g")),
        (C + "def f(kind: type[C]): kind().g()\n", ("f", "C.g")),
        (C + "def f(x): cast(C, x).g()\nfrom typing import cast\n", ("f", "C.g")),
        (C + "class D(C):\n def f(self): self.__class__().g()\n", ("D.f", "C.g")),
        (
            C + "class M:\n c: C\nclass D:\n class N(M): 0\n c = N().c\n def f(self): self.c.g()\n",
            ("D.f", "C.g"),
        ),
        (C + "class D(C):\n def f(self): type(self)().g()\n", ("D.f", "C.g")),
        (C + "class D(C[int]):\n def f(self): self.g()\n", ("D.f", "C.g")),
        (C + "def many(): yield C()\ndef f():\n for c in many(): c.g()\n", ("f", "C.g")),
        (
            C + "class M:\n def __iter__(self): yield C()\ndef f():\n for c in M(): c.g()\n",
            ("f", "C.g"),
        ),
        ("class C:\n def __new__(cls): 0\ndef f(): C()\n", ("f", "C.__new__")),
        ("from functools import partial\ndef g(x): 0\ndef f(): partial(g, 1)()\n", ("f", "g")),
        (C + "def f(x): getattr(C(), 'g')()\n", ("f", "C.g")),
        (C + "def f(x):\n g = getattr(C(), 'g', None)\n g()\n", ("f", "C.g")),
        (C + "def f(x):\n for c in [C() for i in x]: c.g()\n", ("f", "C.g")),
        (C + "def f(x):\n d = {i: C() for i in x}\n d[x].g()\n", ("f", "C.g")),
        (C + "def f(x):\n try: x()\n except C as c: c.g()\n", ("f", "C.g")),
        (C + "def f(x):\n try: x()\n except (C, E) as c: c.g()\n", ("f", "C.g")),
        (C + "A = Union['C', None]\ndef f(x: A): x.g()\n", ("f", "C.g")),
        (C + "class D:\n C: type[C] = C\n def f(self): self.C().g()\n", ("D.f", "C.g")),
        (
            C + "class D:\n def f(self):\n  for c in self.x: c.g()\n"
            " def __init__(self):\n  self.x = []\n  self.x.append(C())\n",
            ("D.f", "C.g"),
        ),
        (
            C + "class A:\n def f(self, c: C): 0\nclass B(A):\n def f(self, c): c.g()\n",
            ("B.f", "C.g"),
        ),
        (
            "class A:\n def g(self): 0\nclass B(A):\n def g(self): 1\n"
            "class D(B):\n def f(self): super(B, self).g()\n",
            ("D.f", "A.g"),
        ),
        (
            "class C(str):\n def __new__(cls): super().__new__(cls).g()\n def g(self): 0\n",
            ("C.__new__", "C.g"),
        ),
    ],
)
def test_a_type_leads_to_its_member(text: str, edge: tuple[str, str]) -> None:
    assert edge in Files({"a.py": text}).edges()


def _last_call(text: str) -> tuple[set[int], bool, Certainty]:
    """Return where the definitions of the last call begin, if more are unknown, and how sure."""
    files = Files({"a.py": text})
    file = files.file("a.py")
    assert file is not None
    call, resolver = file.table.calls[-1], Resolver(files)
    place = ScopeRef("a.py", call.scope)
    values = resolver.calls.targets(place, call)
    lines = {file.scope(each.scope).start for each in values if each.kind == DEFINITION}
    unknown = any(each.kind == UNRESOLVED for each in values)
    return lines, unknown, certainty(resolver, place, call, values)[0]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        (C + "class D(C):\n def g(self): 1\ndef f(c: C): c.g()\n", False),
        (C + "class D(C):\n def h(self): 1\ndef f(c: C): c.g()\n", True),
        (C + "class D(C):\n def g(self): 1\ndef f(): C().g()\n", True),
        ("class C:\n def g(self): 0\n def f(self): self.g()\nclass D(C):\n g = None\n", True),
        (C + "class D(C):\n def g(self): 1\n def f(self): self.g()\n", True),
        ("class C:\n @abstractmethod\n def g(self): ...\ndef f(c: C): c.g()\n", False),
        ("class C(Protocol):\n def g(self): ...\ndef f(c: C): c.g()\n", False),
        ("def g(): 0\ndef f(callback=g): callback()\n", False),
        ("class C:\n def __new__(cls): 0\n def __init__(self): 0\nC()\n", True),
        (C + "from x import X\ndef f(c: C | X): c.g()\n", False),
        (C + "def f(c: C | int): c.g()\n", True),
        (
            "class C:\n def g(self): 0\n def f(self):\n  g = self.g\n  g()\n"
            "class D(C):\n def g(self): 1\n",
            False,
        ),
    ],
)
def test_a_call_is_exact_where_nothing_else_may_run(text: str, sure: bool) -> None:
    assert (_last_call(text)[2] is Certainty.EXACT) == sure


def test_declarations_of_overloads_are_not_run() -> None:
    text = "@overload\ndef g(x: int): ...\n@overload\ndef g(x: str): ...\ndef g(x): 0\ng(1)\n"
    assert _last_call(text)[0] == {5}


def test_declarations_of_overloaded_constructors_are_not_run() -> None:
    text = "class C:\n @overload\n def __init__(self): ...\n def __init__(self, x=0): 0\nC()\n"
    assert _last_call(text)[0] == {4}


@pytest.mark.parametrize(
    "text",
    [
        "def f(d): d = {}\nf({}.get('a').run)\n{}.get('a').run()\n",
        "getattr(x, 'y').run()\n",
        "x = a * b\nx.run()\n",
        "def f(a):\n x = a * 2\n x.run()\n",
        "def f(a):\n match a:\n  case [x]: x.run()\n",
        "class C:\n x = None\n def f(self): self.x.run()\n",
        "import sys\nsys.modules['a'].run()\n",
        "T = TypeVar('T')\ndef f(x: T): x.run()\nfrom typing import TypeVar\n",
    ],
)
def test_what_holds_anything_gives_something_unknown(text: str) -> None:
    assert _last_call(text)[1]
