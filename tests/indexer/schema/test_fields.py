"""Only the schema room spells the names of payload fields."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

INDEXER = Path(__file__).parents[3] / "services" / "ctx_indexer"
# Points of other collections, which each have one file that knows their fields.
OTHER_POINTS = {"history/points.py", "indexing/lease.py"}
CONDITIONS = {"AtLeast", "DatetimeRange", "Match", "MatchAny"}


def spelled_fields(source: str) -> Iterator[str]:
    """Yield the literals that name a field in a filter, a facet or a payload."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            )
            position = 0 if name in CONDITIONS else 1 if name == "facet" else None
            if position is not None and len(node.args) > position:
                yield from _literals(node.args[position])
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("payload"):
            yield from _literals(node.slice)


def _literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def test_no_other_room_spells_a_field() -> None:
    spelled = {
        str(path.relative_to(INDEXER)): names
        for path in INDEXER.rglob("*.py")
        if path.parent.name != "schema" and (names := list(spelled_fields(path.read_text())))
    }
    assert spelled.keys() == OTHER_POINTS


@pytest.mark.parametrize(
    "source",
    ['Match("repo", 1)', 'store.facet(name, "path", limit=1)', 'record.payload["text"]'],
)
def test_this_law_can_fail(source: str) -> None:
    assert list(spelled_fields(source))
