"""The relations of a definition as a tree: callers of callers, callees of callees, subclasses."""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ctx_indexer.graph.certainty import Certainty
from ctx_indexer.graph.graph import Answer, GraphDefinition, SymbolGraph
from ctx_indexer.languages.semantics.values import DEFINITION, Value
from ctx_indexer.syntax.symbols.table import FILE_SCOPE

MAX_NODES = 400  # nodes of one tree; further ones are counted as not followed
SECONDS = 4.0  # for building one tree; branches that are met later are not followed
MAX_CHILDREN = 60  # children of one node at depth two and below
MAX_UNRESOLVED = 12  # names of unresolved calls that an answer shows


class Relation(StrEnum):
    """The relation of a node to the node above it."""

    CALLERS = "callers"
    CALLEES = "callees"
    IMPORTERS = "importers"
    SUBCLASSES = "subclasses"
    OVERRIDES = "overrides"


# Relations that are followed from node to node.
_FOLLOWED = frozenset([Relation.CALLERS, Relation.CALLEES, Relation.SUBCLASSES])


@dataclass(frozen=True)
class TreeNode:
    """A definition in the tree, or a place where one is imported."""

    relation: Relation
    depth: int
    path: str
    line: int
    symbol: str
    certainty: Certainty = Certainty.EXACT
    reason: str = ""
    value: Value | None = None


@dataclass
class Tree:
    """The nodes of a tree, each before the nodes below it, and why there may be more."""

    nodes: list[TreeNode] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)


class TreeBuilder:
    """Builds the tree of one definition."""

    def __init__(
        self, graph: SymbolGraph, depth: int, shown: Callable[[str], str] = lambda path: path
    ) -> None:
        """`shown` turns paths into the caller's."""
        self._graph = graph
        self._shown = shown
        self._depth = depth
        self._deadline = time.monotonic() + SECONDS
        self._tree = Tree()
        self._not_followed = 0

    async def build(self, root: GraphDefinition, relations: Sequence[Relation]) -> Tree:
        """Build the tree; its problems say why it may lack nodes."""
        for relation in relations:
            await self._add(root, relation, 1, {root.value})
        if self._not_followed:
            self._tree.problems.append(
                f"{self._not_followed} branches not followed; ask for one relation or less depth"
            )
        return self._tree

    async def _add(
        self, above: GraphDefinition, relation: Relation, depth: int, seen: set[Value]
    ) -> None:
        answer = await self._ask(above, relation, depth)
        problems = answer.problems(self._shown) if depth == 1 else [answer.incomplete]
        self._tree.problems += [
            f"{relation} of {above.symbol}: {each}" for each in problems if each
        ]
        if relation is Relation.CALLEES and depth == 1 and answer.unresolved:
            self._tree.unresolved += answer.unresolved
        children = list(_nodes(answer, relation, depth))
        for place, node in enumerate(children):
            if len(self._tree.nodes) >= MAX_NODES or (depth > 1 and place >= MAX_CHILDREN):
                self._not_followed += len(children) - place
                return
            self._tree.nodes.append(node)
            await self._below(node, relation, depth, seen)

    async def _below(
        self, node: TreeNode, relation: Relation, depth: int, seen: set[Value]
    ) -> None:
        """Add the nodes below an exact one: a possible relation is followed no further."""
        value = node.value
        is_end = depth >= self._depth or relation not in _FOLLOWED
        if is_end or value is None or value in seen or node.certainty is not Certainty.EXACT:
            return
        seen.add(value)
        if time.monotonic() > self._deadline:
            self._not_followed += 1
            return
        inner = GraphDefinition(value, node.symbol, node.line)
        await self._add(inner, relation, depth + 1, seen)

    async def _ask(self, definition: GraphDefinition, relation: Relation, depth: int) -> Answer:
        """Ask for a relation; all relations of the root share one graph and its loaded tables."""
        graph = self._graph if depth == 1 else self._graph.fresh()
        asked: dict[Relation, Callable[[GraphDefinition], Awaitable[Answer]]] = {
            Relation.CALLERS: graph.callers,
            Relation.CALLEES: graph.callees,
            Relation.IMPORTERS: graph.importers,
            Relation.SUBCLASSES: graph.subclasses,
            Relation.OVERRIDES: graph.overrides,
        }
        return await asked[relation](definition)


def _nodes(answer: Answer, relation: Relation, depth: int) -> Iterator[TreeNode]:
    """Yield the nodes of an answer; several calls in one function make one, at the first."""
    seen: set[tuple[str, int, str]] = set()
    for site in answer.sites:
        key = (site.path, site.scope, site.certainty)
        if key in seen and site.scope != FILE_SCOPE:
            continue
        seen.add(key)
        value = Value(DEFINITION, site.path, site.scope) if site.scope != FILE_SCOPE else None
        yield TreeNode(
            relation, depth, site.path, site.line, site.caller, site.certainty, site.reason, value
        )
    for related in answer.related:
        yield TreeNode(
            relation, depth, related.path, related.line, related.symbol, value=related.value
        )
    for each in answer.imports:
        sureness = Certainty.POSSIBLE if each.unsure else Certainty.EXACT
        alias = f"as {each.alias}"
        yield TreeNode(relation, depth, each.path, each.line, alias, sureness, each.unsure)
