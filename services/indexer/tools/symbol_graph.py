"""`symbol_graph`: what a definition is related to, as one tree."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from services.core.serving.service import Effect, Tool
from services.core.serving.sessions import SessionToken
from services.indexer.graph.edges import Certainty
from services.indexer.graph.graph import GraphDefinition, SymbolGraph
from services.indexer.graph.tree import MAX_UNRESOLVED, Relation, Tree, TreeBuilder, TreeNode
from services.indexer.lookup.lookup import Lookup
from services.indexer.lookup.marks import BASE, CALL, DEFINITION, IMPORT, OTHER
from services.indexer.lookup.pattern import Pattern
from services.indexer.lookup.reader import split_name
from services.indexer.tools.context import CollectionArgument, IndexerContext
from services.indexer.tools.graph import Name, Repo
from services.indexer.tools.search import TOOLSET
from services.indexer.tools.search_arguments import names_of
from services.indexer.tools.uses import Uses, Where

MAX_DEPTH = 3
MAX_DEFINITIONS = 3  # of one plain name; more need a qualified one
MAX_NODES = 200
DEFAULT_NODES = 60
MENTIONS_READ = 2_000  # lines that hold the name, which are told apart
_KINDS = (DEFINITION, IMPORT, CALL, OTHER)


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
    """The trees of a name's definitions; `references` counts the lines that hold it, by kind."""

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
    uses = Uses(context, lookup)

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
        chosen = context.collection(collection, session)
        where = await uses.where(chosen, None, names_of(repo), None)
        asked = relations or list(Relation)
        return await _Graphs(context, lookup, where).build(query, asked, depth, limit, offset)

    return [Tool(symbol_graph, "Symbol graph", TOOLSET, Effect.READS, render=render_graph)]


class _Graphs:
    """Builds the trees of the definitions of a name."""

    def __init__(self, context: IndexerContext, lookup: Lookup, where: Where) -> None:
        self._context = context
        self._lookup = lookup
        self._where = where
        self._problems: list[str] = []

    async def build(
        self, name: str, relations: Sequence[Relation], depth: int, limit: int, offset: int
    ) -> SymbolGraphResult:
        """Build the result. Raises InvalidInput with similar names for an unknown one."""
        started = time.perf_counter()
        trees = [
            (repo, definition, await TreeBuilder(graph, depth).build(definition, relations))
            for repo, graph, definition in await self._definitions(name)
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
        references = await self._references(name)
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

    async def _definitions(self, name: str) -> list[tuple[str, SymbolGraph, GraphDefinition]]:
        where = self._where
        named = await self._lookup.definitions(where.collection, name, where.anywhere)
        located = named.every
        found: list[tuple[str, SymbolGraph, GraphDefinition]] = []
        for repo in sorted({each.file.repo for each in located}):
            graph = SymbolGraph(self._context.vectors, where.collection, repo, where.filters.hidden)
            paths = sorted({each.file.path for each in located if each.file.repo == repo})
            definitions = await graph.definitions(split_name(name), paths)
            found += [(repo, graph, each) for each in definitions]
            known = {each.path for each in definitions}
            if others := [path for path in paths if path not in known]:
                shown = ", ".join(where.scope.shown(repo, path) for path in others[:3])
                self._problems.append(f"by name only in {shown}: ask exact_search")
        if len(found) > MAX_DEFINITIONS:
            left = len(found) - MAX_DEFINITIONS
            self._problems.append(f"{left} more definitions of this name; qualify it")
        return found[:MAX_DEFINITIONS]

    def _tree(
        self, repo: str, definition: GraphDefinition, tree: Tree, limit: int, offset: int
    ) -> DefinitionTree:
        path = self._where.scope.shown(repo, definition.path)
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
            "path": self._where.scope.shown(repo, node.path),
            "line": node.line,
        }
        if node.certainty is not Certainty.EXACT:
            shown["possible"] = node.reason
        return shown

    async def _references(self, name: str) -> dict[str, int]:
        """Count the lines that hold the name: definitions, imports, calls, and others."""
        last = split_name(name)[-1]
        pattern = Pattern(last, regex=False, case_sensitive=True, word=True)
        within = self._where.anywhere
        found = await self._lookup.search(
            self._where.collection, pattern, within, MENTIONS_READ, 0, None
        )
        counts = dict.fromkeys(_KINDS, 0)
        for file in found.files:
            for line in file.lines:
                counts[OTHER if line.mark.role == BASE else line.mark.role] += 1
        if found.shown < found.lines:
            self._problems.append(f"references: {MENTIONS_READ} of {found.lines} lines counted")
        return counts


def render_graph(result: Mapping[str, Any]) -> str:
    """Write the trees as text: a heading for each relation, a line for each node."""
    parts: list[str] = []
    for tree in result["trees"]:
        state = "complete" if result["complete"] else "not complete"
        parts.append(f"{tree['definition']}: {tree['total']} nodes ({state})")
        relation = ""
        for node in tree["nodes"]:
            if node["relation"] != relation:
                relation = node["relation"]
                parts.append(f"{relation}:")
            sure = f" [possible: {node['possible']}]" if "possible" in node else ""
            indent = "  " * node["depth"]
            symbol = node["symbol"] or "(file)"
            parts.append(f"{indent}{symbol} {node['path']}:{node['line']}{sure}")
        if names := tree.get("unresolved_calls"):
            parts.append(f"unknown receivers: {', '.join(names)}")
    counts = ", ".join(f"{count} {kind}" for kind, count in result["references"].items() if count)
    parts.append(f"lines with the name: {counts or 'none'}")
    if "next_offset" in result:
        parts.append(f"more: offset={result['next_offset']}")
    return "\n".join([*parts, *result.get("warnings", [])])
