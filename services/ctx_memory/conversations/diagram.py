"""Draws a context and its related contexts: as JSON, as Mermaid, as text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ctx_memory.conversations.relations import Relations
from ctx_memory.records.conversations.relations import Relation, RelationType
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import SummaryLevel

MAX_NODES = 50  # contexts of one picture; nobody reads one with more
LABEL_CHARACTERS = 60
PLAIN = frozenset(" ._-/:@")  # characters without a meaning in Mermaid, beside words

Format = Literal["json", "mermaid", "text"]


@dataclass(frozen=True)
class Diagram:
    """Contexts with their number of messages, and their relationships."""

    root: str
    nodes: Mapping[str, Mapping[str, Any]]
    edges: Sequence[Relation]
    is_cut: bool

    def rendered(self, format_: Format) -> str:
        draw = {"json": self._json, "mermaid": self._mermaid, "text": self._text}
        return draw[format_]()

    def _json(self) -> str:
        body: dict[str, Any] = {
            "contextId": self.root,
            "nodes": [{"id": id_, **node} for id_, node in self.nodes.items()],
            "edges": [
                {"source": e.source, "target": e.target, "type": e.type.value, "weight": e.weight}
                for e in self.edges
            ],
        }
        if self.is_cut:
            body["truncated"] = True
        return json.dumps(body, ensure_ascii=False)

    def _mermaid(self) -> str:
        names = {id_: f"n{number}" for number, id_ in enumerate(self.nodes)}
        lines = ["graph LR"]
        for id_, node in self.nodes.items():
            lines.append(f'  {names[id_]}["{_label(id_)} ({node["messages"]})"]')
        lines += [
            f"  {names[e.source]} -->|{e.type.value} {e.weight:g}| {names[e.target]}"
            for e in self.edges
        ]
        return "\n".join([*lines, *self._note("  %% ")])

    def _text(self) -> str:
        lines = []
        for id_, node in self.nodes.items():
            summary = "summarised" if node["summarised"] else "no summary"
            lines.append(f"{id_}: {node['messages']} messages, {summary}")
            lines += [
                f"  {e.type.value} {e.weight:g} -> {e.target}"
                for e in self.edges
                if e.source == id_
            ]
        return "\n".join([*lines, *self._note("")])

    def _note(self, prefix: str) -> list[str]:
        return [f"{prefix}only {MAX_NODES} contexts are shown"] if self.is_cut else []


async def draw(records: ConversationStore, relations: Relations, root: str, depth: int) -> Diagram:
    """Collect the contexts up to `depth` relationships away from the root.

    A parent and its child have two inverse relationships; `parent` alone is drawn.
    """
    ids: dict[str, None] = {root: None}
    edges: dict[tuple[str, str, str], Relation] = {}
    frontier = [root]
    for _ in range(depth):
        found = [edge for id_ in frontier for edge in await relations.edges(id_)]
        frontier = []
        for edge in found:
            if edge.type is not RelationType.CHILD:
                edges[edge.source, edge.target, edge.type.value] = edge
            for end in (edge.source, edge.target):
                if end not in ids:
                    ids[end] = None
                    frontier.append(end)
        if len(ids) > MAX_NODES:
            break
    shown = list(ids)[:MAX_NODES]
    summarised = await records.summaries.get(SummaryLevel.CONVERSATION, shown)
    nodes = {
        id_: {
            "messages": await records.messages.count([id_]),
            "summarised": id_ in summarised,
        }
        for id_ in shown
    }
    inside = [e for e in edges.values() if e.source in nodes and e.target in nodes]
    return Diagram(root, nodes, inside, len(ids) > MAX_NODES)


def _label(id_: str) -> str:
    """Return an id as the text of a Mermaid node, without markup: `a"b` → `a#34;b`."""
    shown = id_ if len(id_) <= LABEL_CHARACTERS else f"{id_[:LABEL_CHARACTERS]}…"
    return "".join(c if c.isalnum() or c in PLAIN or ord(c) > 127 else f"#{ord(c)};" for c in shown)
