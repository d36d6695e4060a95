"""`symbol_graph`: the relations of a definition, as one tree."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ctx_core.serving.service import Effect, Tool
from ctx_core.serving.sessions import SessionToken
from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.graph import GraphDefinition, SymbolGraph
from ctx_indexer.graph.references import ReferenceKind
from ctx_indexer.graph.tree import MAX_UNRESOLVED, Relation, Tree, TreeBuilder, TreeNode
from ctx_indexer.lookup.lookup import Lookup
from ctx_indexer.lookup.named import NamedDefinitions, NamedInRepo
from ctx_indexer.lookup.written_name import name_parts, without_type_arguments
from ctx_indexer.search.filters import SearchFilters
from ctx_indexer.tools.context import CollectionArgument, IndexerContext
from ctx_indexer.tools.foreign_arguments import adapt_graph
from ctx_indexer.tools.graph import Name, Repo
from ctx_indexer.tools.search import TOOLSET
from ctx_indexer.tools.search_arguments import names_of
from ctx_indexer.view.view import View
from ctx_indexer.view.views import ViewArguments

MAX_DEPTH = 3
MAX_DEFINITIONS = 3  # of one plain name; more need a qualified one
MAX_NODES = 200
DEFAULT_NODES = 60


class GraphNode(TypedDict):
    """A definition of the tree. `line` of a caller is that of its call."""

    relation: str
    depth: int
    symbol: str
    path: str
    line: int
    possible: NotRequired[str]


class DefinitionTree(TypedDict):
    """A definition with its relations, from `offset` on."""

    definition: str
    nodes: list[GraphNode]
    total: int
    unresolved_calls: NotRequired[list[str]]


class SymbolGraphResult(TypedDict):
    """The trees of a name's definitions; `references` counts lines of code with it, by kind."""

    ok: bool
    query: str
    trees: list[DefinitionTree]
    references: dict[str, int]
    complete: bool
    search_time_ms: float
    next_offset: NotRequired[int]
    warnings: NotRequired[list[str]]


def symbol_graph_tools(context: IndexerContext, lookup: Lookup) -> Sequence[Tool]:
    """Build the question about everything that a definition is related to."""
    named = NamedDefinitions(lookup.definitions, context.vectors)

    async def symbol_graph(
        query: Name,
        relations: list[Relation] | None = None,
        depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 1,
        limit: Annotated[int, Field(ge=1, le=MAX_NODES)] = DEFAULT_NODES,
        offset: Annotated[int, Field(ge=0)] = 0,
        repo: Repo = None,
        collection: CollectionArgument = None,
        session: SessionToken = None,
    ) -> SymbolGraphResult:
        """Show a definition's callers, callees, importers, subclasses and overrides as a tree."""
        view = await context.views.resolve(ViewArguments(collection, session, names_of(repo)))
        asked = relations or list(Relation)
        return await _Graphs(named, view).build(query, asked, depth, limit, offset)

    return [
        Tool(
            symbol_graph,
            "Symbol graph",
            TOOLSET,
            Effect.READS,
            render=render_graph,
            adapt=adapt_graph,
        )
    ]


class _Graphs:
    """Builds the trees of the definitions of a name."""

    def __init__(self, named: NamedDefinitions, view: View) -> None:
        self._named = named
        self._view = view
        self._problems: list[str] = []

    async def build(
        self, name: str, relations: Sequence[Relation], depth: int, limit: int, offset: int
    ) -> SymbolGraphResult:
        """Build the result. Raises InvalidInput with similar names for an unknown one."""
        started = time.perf_counter()
        found = await self._named.find(self._view, name, SearchFilters(repos=self._view.repos))
        repos = found.repos
        self._problems += found.problems
        trees = [
            (repo, definition, await self._builder(repo, graph, depth).build(definition, relations))
            for repo, graph, definition in self._definitions(repos)
        ]
        shown = [
            self._tree(repo, definition, tree, limit, offset) for repo, definition, tree in trees
        ]
        left = max((len(tree.nodes) - offset - limit for _, _, tree in trees), default=0)
        for _, _, tree in trees:
            self._problems += tree.problems
        unresolved = sum(len(tree.unresolved) for _, _, tree in trees)
        if unresolved:
            self._problems.append(f"{unresolved} names that it calls have an unknown receiver")
        references = await self._references(name, repos)
        problems = list(dict.fromkeys(self._problems))
        result: SymbolGraphResult = {
            "ok": True,
            "query": name,
            "trees": shown,
            "references": references,
            "complete": not problems and left <= 0,
            "search_time_ms": round((time.perf_counter() - started) * 1000, 1),
        }
        if left > 0:
            result["next_offset"] = offset + limit
        if problems:
            result["warnings"] = problems
        return result

    def _builder(self, repo: str, graph: SymbolGraph, depth: int) -> TreeBuilder:
        return TreeBuilder(graph, depth, partial(self._view.shown, repo))

    def _definitions(
        self, repos: Sequence[NamedInRepo]
    ) -> list[tuple[str, SymbolGraph, GraphDefinition]]:
        found: list[tuple[str, SymbolGraph, GraphDefinition]] = []
        for each in repos:
            found += [(each.repo, each.graph, one) for one in each.definitions]
            others = dict.fromkeys(one.file.path for one in (*each.by_name, *each.values))
            if others:
                shown = ", ".join(self._view.shown(each.repo, p) for p in [*others][:3])
                self._problems.append(f"by name only in {shown}: ask exact_search")
        if len(found) > MAX_DEFINITIONS:
            left = len(found) - MAX_DEFINITIONS
            self._problems.append(f"{left} more definitions of this name; qualify it")
        return found[:MAX_DEFINITIONS]

    def _tree(
        self, repo: str, definition: GraphDefinition, tree: Tree, limit: int, offset: int
    ) -> DefinitionTree:
        path = self._view.shown(repo, definition.path)
        page = tree.nodes[offset : offset + limit]
        result: DefinitionTree = {
            "definition": f"{path}:{definition.start_line} {definition.symbol}",
            "nodes": [self._node(repo, node) for node in page],
            "total": len(tree.nodes),
        }
        if tree.unresolved:
            result["unresolved_calls"] = tree.unresolved[:MAX_UNRESOLVED]
        return result

    def _node(self, repo: str, node: TreeNode) -> GraphNode:
        shown: GraphNode = {
            "relation": node.relation.value,
            "depth": node.depth,
            "symbol": node.symbol,
            "path": self._view.shown(repo, node.path),
            "line": node.line,
        }
        if node.certainty is not Certainty.EXACT:
            shown["possible"] = node.reason
        return shown

    async def _references(self, name: str, found: Sequence[NamedInRepo]) -> dict[str, int]:
        """Count the lines of code that refer to the name: definitions, imports, calls, others."""
        counts = Counter({kind.value: 0 for kind in ReferenceKind})
        last = name_parts(without_type_arguments(name))[-1]
        for each in found:
            paths = sorted({definition.path for definition in each.definitions})
            counts.update(await each.graph.references(last, paths))
        return dict(counts)


def render_graph(result: Mapping[str, Any]) -> str:
    """Write the trees as text: a heading for each relation, a line for each node."""
    parts: list[str] = []
    for tree in result["trees"]:
        state = "complete" if result["complete"] else "not complete"
        parts.append(f"{tree['definition']}: {tree['total']} nodes ({state})")
        relation = ""
        is_flat = all(node["depth"] == 1 for node in tree["nodes"])
        for node in tree["nodes"]:
            if node["relation"] != relation:
                relation = node["relation"]
                direct = " (direct)" if relation == Relation.SUBCLASSES and is_flat else ""
                parts.append(f"{relation}{direct}:")
            sure = f" [possible: {node['possible']}]" if "possible" in node else ""
            indent = "  " * node["depth"]
            symbol = node["symbol"] or "(file)"
            parts.append(f"{indent}{symbol} {node['path']}:{node['line']}{sure}")
        if names := tree.get("unresolved_calls"):
            parts.append(f"unknown receivers: {', '.join(names)}")
    counts = ", ".join(f"{count} {kind}" for kind, count in result["references"].items() if count)
    if counts or parts:
        parts.append(f"lines with the name: {counts or 'none'}")
    if "next_offset" in result:
        parts.append(f"more: offset={result['next_offset']}")
    return "\n".join([*parts, *result.get("warnings", [])])
