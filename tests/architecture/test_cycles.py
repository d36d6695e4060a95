"""No long cycle of imports: modules that import each other are read, and moved, as one."""

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

import pytest

from tests.architecture.test_imports import ROOT, imports, module_of, sources

LONGEST_CYCLE = 4  # modules: a parser and its node types may know each other, a room may not

Graph = Mapping[str, Collection[str]]


def graph_of(imported: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Keep modules of ours: `{"a": ["b.Name"], "b": []} → {"a": {"b"}, "b": set()}`."""
    return {
        module: {found for name in names if (found := _module(name, imported)) and found != module}
        for module, names in imported.items()
    }


def _module(name: str, known: Collection[str]) -> str:
    """Return the module of an imported name; empty where it is not ours."""
    return next((each for each in (name, name.rpartition(".")[0]) if each in known), "")


def cycles(graph: Graph) -> set[frozenset[str]]:
    """Return the largest sets of modules that all reach each other, of two and more."""
    reached = {module: set(_reached(graph, module)) for module in graph}
    return {
        frozenset(other for other in found if module in reached[other])
        for module, found in reached.items()
        if module in found
    }


def _reached(graph: Graph, start: str) -> Iterator[str]:
    seen, left = set[str](), [*graph[start]]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left.extend(graph[module])
            yield module


def product() -> Graph:
    """Read every import of the product; under `TYPE_CHECKING` and in functions as well."""
    return graph_of(
        {
            module_of(path.relative_to(ROOT).as_posix()): [each.module for each in imports(path)]
            for path in sources()
        }
    )


def test_no_cycle_is_long() -> None:
    found = [sorted(each) for each in cycles(product()) if len(each) > LONGEST_CYCLE]
    assert found == []


@pytest.mark.parametrize(
    ("imported", "found"),
    [
        ({"a": ["b"], "b": ["c"], "c": []}, set()),
        ({"a": ["b.Name"], "b": ["a"], "c": ["a"]}, {frozenset("ab")}),
        ({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["a"], "e": ["a"]}, {frozenset("abcd")}),
        ({"a": ["a.Name", "os.path"]}, set()),
    ],
)
def test_cycles_are_found(imported: Graph, found: set[frozenset[str]]) -> None:
    assert cycles(graph_of(imported)) == found


def test_the_law_of_cycles_can_fail() -> None:
    names = [f"ctx.module{number}" for number in range(LONGEST_CYCLE + 1)]
    [found] = cycles({name: [after] for name, after in pairwise([*names, names[0]])})
    assert len(found) > LONGEST_CYCLE
