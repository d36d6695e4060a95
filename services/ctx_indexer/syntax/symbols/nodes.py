"""Nodes of a syntax tree: found by their types, and taken apart."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from tree_sitter import Node, Query, Tree

from ctx_indexer.syntax.grammar import Grammar, queried

NODE = "node"
Types = tuple[str, ...]
Captures = dict[str, list[Node]]  # the nodes of one match of a query, by the names of captures


def nodes_of(tree: Tree, grammar: Grammar, *groups: Types) -> list[Sequence[Node]]:
    """Return the nodes of each group of types, in the order of the text, by one walk of the tree.

    A query of captures finds them: it is cheaper than one of matches.
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
    """Return the query of a language's symbols, with the settings of each pattern."""
    query = Query(grammar.language, path.read_text(encoding="utf-8"))
    count = int(cast(int, query.pattern_count))  # a property, which its stubs call a method
    return query, [query.pattern_settings(number) for number in range(count)]


def part(node: Node, name: str) -> Node | None:
    """Return a part of a node: by a field, by a position, or by types of children after a colon.

    `function` → that field, `-1` → the last named child, `:call|name` → the first of these types.
    """
    if not name:
        return None
    if name.startswith(":"):
        types = name[1:].split("|")
        return next((child for child in node.named_children if child.type in types), None)
    if not name.lstrip("-").isdigit():
        return node.child_by_field_name(name)
    children = node.named_children
    position = int(name)
    return children[position] if -len(children) <= position < len(children) else None


def declared_name(node: Node) -> tuple[Node, bool]:
    """Return the name inside a declarator, and whether a function has it: `*f(int)` → `f`, true."""
    is_function = False
    while True:
        is_function = is_function or node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type.endswith("_declarator") and node.named_children:
            inner = node.named_children[0]
        if inner is None:
            return node, is_function
        node = inner
