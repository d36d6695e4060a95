"""Queries of syntax trees: the one of a language's symbols, and nodes by their types."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from tree_sitter import Node, Query, Tree

from services.indexer.syntax.grammar import QUERIES, Grammar, queried

NODE = "node"


def nodes_of(tree: Tree, grammar: Grammar, node_types: tuple[str, ...]) -> Sequence[Node]:
    """Return all nodes of some types. Captures are cheaper than matches, and in any order."""
    if not node_types:
        return ()
    nodes = _nodes(grammar, node_types)
    found = queried(nodes, lambda cursor: cursor.captures(tree.root_node)).get(NODE, ())
    return sorted(found, key=lambda node: (node.start_byte, node.end_byte))


@cache
def _nodes(grammar: Grammar, node_types: tuple[str, ...]) -> Query:
    each = " ".join(f"({node_type})" for node_type in node_types)
    return Query(grammar.language, f"[{each}] @{NODE}")


@cache
def symbol_query(grammar: Grammar, name: str) -> tuple[Query, Sequence[Mapping[str, Any]]]:
    """Return the query of a language's symbols, with what each pattern sets."""
    text = (QUERIES / "symbols" / f"{name}.scm").read_text(encoding="utf-8")
    query = Query(grammar.language, text)
    count = int(cast(int, query.pattern_count))  # a property, which its stubs call a method
    return query, [query.pattern_settings(number) for number in range(count)]
