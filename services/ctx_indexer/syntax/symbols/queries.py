"""Queries of syntax trees: the one of a language's symbols, and nodes by their types."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from tree_sitter import Node, Query, Tree

from ctx_indexer.syntax.grammar import Grammar, queried

NODE = "node"
Types = tuple[str, ...]


def nodes_of(tree: Tree, grammar: Grammar, *groups: Types) -> list[Sequence[Node]]:
    """Return all nodes of some types, of each group, in one walk through the tree.

    Captures are cheaper than matches, and in any order.
    """
    found = {}
    if any(groups):
        nodes = _nodes(grammar, groups)
        found = queried(nodes, lambda cursor: cursor.captures(tree.root_node))
    return [
        sorted(found.get(f"{NODE}{each}", ()), key=lambda node: (node.start_byte, node.end_byte))
        for each in range(len(groups))
    ]


@cache
def _nodes(grammar: Grammar, groups: tuple[Types, ...]) -> Query:
    patterns = []
    for number, node_types in enumerate(groups):
        each = " ".join(f"({node_type})" for node_type in node_types)
        patterns += [f"[{each}] @{NODE}{number}"] if each else []
    return Query(grammar.language, "\n".join(patterns))


@cache
def read_query(grammar: Grammar, path: Path) -> tuple[Query, Sequence[Mapping[str, Any]]]:
    """Return the query of a language's symbols, with what each pattern sets."""
    query = Query(grammar.language, path.read_text(encoding="utf-8"))
    count = int(cast(int, query.pattern_count))  # a property, which its stubs call a method
    return query, [query.pattern_settings(number) for number in range(count)]
