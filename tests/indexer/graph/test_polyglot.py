"""Calls of a sample in each language resolve to what the sample says about them.

A line that calls something of the sample ends in `//> Name, Name`, in Ruby `#> Name`. `Name#2` is
the second definition of that name in its file, `Name@file` the one in that file. A line that calls
nothing of the sample has no such mark.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ctx_indexer.graph.resolver import Resolver
from ctx_indexer.languages.semantics.values import DEFINITION, ScopeRef, Value
from ctx_indexer.syntax.symbols.table import FUNCTION
from tests.support.symbol_tables import SymbolTables

SAMPLES = Path(__file__).parent / "polyglot"
LANGUAGES = sorted(folder.name for folder in SAMPLES.iterdir())
MARK = re.compile(r"(?://|#)> (.+)$")
MIN_PRECISION, MIN_RECALL = 0.98, 0.80


class Edge(NamedTuple):
    """A line, and what it calls."""

    path: str
    line: int
    callee: str


class Sample(SymbolTables):
    """The files of one language, and what their marks say."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(folder.rglob("*.*"))
        texts = {str(path.relative_to(folder)): path.read_text() for path in paths}
        super().__init__(texts)
        self.expected = {edge for name, text in texts.items() for edge in _marked(name, text)}

    def edges(self) -> Iterator[tuple[Edge, frozenset[str]]]:
        """Yield the exact edges, each with all the ways that a mark may name its callee."""
        resolver = Resolver(self)
        for path, file in self.files.items():
            for call in file.table.calls:
                resolver.start()
                for value in resolver.calls.targets(ScopeRef(path, call.scope), call):
                    names = self._names(value)
                    if names:
                        yield Edge(path, call.line, min(names)), names

    def _names(self, value: Value) -> frozenset[str]:
        if value.kind != DEFINITION:
            return frozenset()
        file = self.files[value.path]
        scope = file.scope(value.scope)
        if scope.kind != FUNCTION:
            return frozenset()
        same = [n for n, each in enumerate(file.table.scopes) if each.path == scope.path]
        parts = scope.path.split(".")
        plain = {".".join(parts[at:]) for at in range(len(parts))}
        position = same.index(value.scope) + 1
        numbered = {f"{name}#{position}" for name in plain}
        placed = {f"{name}@{Path(value.path).name}" for name in plain}
        return frozenset((plain if len(same) == 1 else set()) | numbered | placed)


def _marked(path: str, text: str) -> Iterator[Edge]:
    for number, line in enumerate(text.splitlines(), 1):
        if mark := MARK.search(line):
            for name in mark.group(1).split(","):
                yield Edge(path, number, name.strip().replace("::", "."))


def compare(sample: Sample) -> tuple[set[Edge], set[Edge], set[Edge]]:
    """Return the edges that are right, wrong and missed."""
    right: set[Edge] = set()
    wrong: set[Edge] = set()
    for edge, names in sample.edges():
        fitting = {edge._replace(callee=name) for name in names} & sample.expected
        right |= fitting
        if not fitting:
            wrong.add(edge)
    return right, wrong, sample.expected - right


@pytest.mark.parametrize("language", LANGUAGES)
def test_calls_of_a_language_resolve(language: str) -> None:
    right, wrong, missed = compare(Sample(SAMPLES / language))
    precision = len(right) / max(len(right) + len(wrong), 1)
    recall = len(right) / len(right | missed)
    figures = f"{precision:.3f} {recall:.3f} wrong {sorted(wrong)} missed {sorted(missed)}"
    assert precision >= MIN_PRECISION and recall >= MIN_RECALL, figures
