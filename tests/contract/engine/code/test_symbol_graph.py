"""`symbol_graph` over MCP: one tree of relations, bounded, paged, and honest about the rest."""

from pathlib import Path

import pytest

from tests.contract.engine.code.conftest import Engine
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = {
    "src/shapes.py": """class Shape:
    def area(self):
        return self.scale()

    def scale(self):
        return 1


class Square(Shape):
    def area(self):
        return 4


class Tile(Square):
    def area(self):
        return super().area()
""",
    "src/report.py": """from shapes import Shape, Square


def total():
    return Square().area()


def page(thing):
    thing.render()
    return total()


def book():
    return page(None)
""",
    "tests/test_shapes.py": """from shapes import Square


def test_area():
    assert Square().area() == 4
""",
    "src/labels.py": """class Label:
    @property
    def words(self):
        return "x"

    def __str__(self):
        return "y"


def show(label: Label):
    return label.words


def write(label: Label):
    return str(label)


def count(label: Label):
    return print(label.words.title())
""",
    "src/hooks.py": """from registry import hook

LIMIT = 3


def passed():
    return 1


def first():
    return 1


def second():
    return 2


def run(flag):
    chosen = first if flag else second
    return chosen()


def subscribe(bus, kind):
    bus.on(kind, passed)
    return passed()


@hook
def hooked():
    return 1
""",
    "src/bus.py": """class Bus:
    def fire(self):
        return 1


def dispatch(bus: Bus, name):
    getattr(bus, name)()
    bus.fire()
""",
    "src/Main.java": """class Main {
    static int twice(int n) { return n * 2; }

    int run() { return twice(3); }
}
""",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = Repository.create(tmp_path_factory.mktemp("graph") / "shapes")
    for name, text in FILES.items():
        file = repository.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository.git("add", "-A")
    return repository.root


def _related(tree: dict[str, object], relation: str) -> list[tuple[int, str]]:
    nodes = tree["nodes"]
    assert isinstance(nodes, list)
    return [(node["depth"], node["symbol"]) for node in nodes if node["relation"] == relation]


async def test_callers_of_callers_are_below_them(engine: Engine) -> None:
    found = await engine.call("symbol_graph", query="total", relations=["callers"], depth=3)
    [tree] = found["trees"]
    assert _related(tree, "callers") == [(1, "page"), (2, "book")]
    assert tree["definition"] == "src/report.py:4 total"
    assert found["complete"]


async def test_a_class_has_its_subclasses_and_a_method_its_overrides(engine: Engine) -> None:
    classes = await engine.call("symbol_graph", query="Shape", relations=["subclasses"], depth=2)
    assert _related(classes["trees"][0], "subclasses") == [(1, "Square"), (2, "Tile")]
    methods = await engine.call("symbol_graph", query="Shape.area", relations=["overrides"])
    assert _related(methods["trees"][0], "overrides") == [(1, "Square.area"), (1, "Tile.area")]


async def test_callees_and_what_could_not_be_resolved(engine: Engine) -> None:
    found = await engine.call("symbol_graph", query="page", relations=["callees"])
    [tree] = found["trees"]
    assert _related(tree, "callees") == [(1, "total")]
    assert tree["unresolved_calls"] == ["render"]
    assert not found["complete"]
    assert "unknown receiver" in found["warnings"][0]


async def test_references_come_apart_by_kind(engine: Engine) -> None:
    found = await engine.call("symbol_graph", query="Square")
    assert found["references"] == {"definition": 1, "import": 2, "call": 2, "other": 1}
    assert {path for _, path in _related(found["trees"][0], "importers")} == {"as Square"}


async def test_other_languages_have_trees(engine: Engine) -> None:
    found = await engine.call("symbol_graph", query="Main.twice", relations=["callers"])
    assert _related(found["trees"][0], "callers") == [(1, "Main.run")]


async def test_a_property_is_called_where_it_is_read(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="Label.words")
    uses = [(use["symbol"], use["start_line"], use["certainty"]) for use in found["results"]]
    assert uses == [("show", 11, "exact"), ("count", 19, "exact")]
    assert found["complete"]  # what a property gives may be passed on; the property is not


async def test_what_the_language_runs_without_a_name_makes_an_answer_incomplete(
    engine: Engine,
) -> None:
    found = await engine.call("search_callers_for", query="Label.__str__")
    assert not found["complete"]
    assert "operators or the language" in str(found)


async def test_what_the_language_runs_is_only_possible(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="Label.__str__")
    [use] = found["results"]
    assert (use["symbol"], use["start_line"], use["certainty"]) == ("write", 15, "possible")


async def test_a_tree_is_paged(engine: Engine) -> None:
    whole = await engine.call("symbol_graph", query="Square")
    nodes = whole["trees"][0]["nodes"]
    first = await engine.call("symbol_graph", query="Square", limit=1)
    second = await engine.call("symbol_graph", query="Square", limit=1, offset=1)
    assert first["next_offset"] == 1
    assert not first["complete"]
    assert first["trees"][0]["nodes"] + second["trees"][0]["nodes"] == nodes[:2]
    assert first["trees"][0]["total"] == len(nodes)


async def test_an_unknown_symbol_is_an_error_with_suggestions(engine: Engine) -> None:
    found = await engine.call("symbol_graph", query="Sqare")
    assert not found["ok"]
    assert "square" in found["error"]


async def test_the_text_is_short(engine: Engine) -> None:
    text = await engine.text("symbol_graph", query="total", relations=["callers"], depth=2)
    assert text.splitlines() == [
        "src/report.py:4 total: 2 nodes (complete)",
        "callers:",
        "  page src/report.py:10",
        "    book src/report.py:14",
        "lines with the name: 1 definition, 1 call",
    ]


async def test_uses_come_in_pages(engine: Engine) -> None:
    whole = await engine.call("search_callers_for", query="area")
    assert whole["total"] == 3
    first = await engine.call("search_callers_for", query="area", limit=2)
    rest = await engine.call("search_callers_for", query="area", limit=2, offset=2)
    assert first["next_offset"] == 2
    assert "next_offset" not in rest
    assert first["results"] + rest["results"] == whole["results"]
    assert not first["complete"]
    assert not rest["complete"]


async def test_a_name_may_begin_with_its_module(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="src.report.total")
    assert [use["symbol"] for use in found["results"]] == ["page"]
    assert found["complete"]


async def test_what_is_no_function_has_no_callers_and_is_told(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="LIMIT")
    assert not found["results"]
    assert not found["complete"]
    assert "no function or class" in found["warnings"][0]


async def test_a_choice_of_two_is_possible(engine: Engine) -> None:
    found = await engine.call("search_callers_for", query="second")
    [use] = found["results"]
    assert (use["symbol"], use["certainty"]) == ("run", "possible")
    assert use["reason"] == "one of 2 that it may run"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("passed", "passed as a value at src/hooks.py:24: calls from there are not seen"),
        ("hooked", "decorated by hook at src/hooks.py:29: calls from there are not seen"),
        ("Bus.fire", "getattr at src/bus.py:7: it may find this name at run time"),
    ],
)
async def test_what_may_be_called_unseen_is_not_complete(
    engine: Engine, name: str, why: str
) -> None:
    found = await engine.call("search_callers_for", query=name)
    assert found["warnings"] == [why]
    assert not found["complete"]
    tree = await engine.call("symbol_graph", query=name, relations=["callers"])
    assert tree["warnings"] == [f"callers of {name}: {why}"]


async def test_direct_subclasses_are_not_taken_for_all(engine: Engine) -> None:
    direct = await engine.text("symbol_graph", symbol="Shape", query_type="subclasses")
    assert "\nsubclasses (direct):\n" in direct
    every = await engine.text("symbol_graph", query="Shape", relations=["subclasses"], depth=2)
    assert "\nsubclasses:\n" in every
