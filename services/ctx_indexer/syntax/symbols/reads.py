"""Attributes that are read or assigned, where a property may run."""

from collections.abc import Sequence
from typing import Any

from tree_sitter import Node

from ctx_indexer.syntax.symbols.scopes import Scopes
from ctx_indexer.syntax.symbols.spec import SymbolSpec
from ctx_indexer.syntax.symbols.table import ASSIGNED, Read


class Reads:
    """Collects the attributes of one file that are not called."""

    def __init__(self, spec: SymbolSpec, scopes: Scopes) -> None:
        self._targets = spec.targets
        self._scopes = scopes
        self.called: set[tuple[int, int]] = set()  # byte ranges
        self.assigned: set[tuple[int, int]] = set()
        self.all: list[Read] = []

    def read(self, nodes: Sequence[Node]) -> None:
        """Read attributes, the longest at each byte; a line with one several times has it once."""
        longest: dict[int, tuple[int, Node]] = {}
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            if start not in longest or longest[start][0] < end:
                longest[start] = (end, node)
        found: dict[Any, Read] = {}
        for start, (end, node) in longest.items():
            if (start, end) not in self.called and (value := self._scopes.expressions.read(node)):
                how = ASSIGNED if self._is_assigned(node) else ""
                read = Read(self._scopes.at(start), self._scopes.line(end - 1), value, how)
                found.setdefault(read if isinstance(value, str) else str(read), read)
        self.all = list(found.values())

    def _is_assigned(self, node: Node) -> bool:
        """Whether a node is the target of an assignment, or one of several targets."""
        if (node.start_byte, node.end_byte) in self.assigned:
            return True
        return node.parent is not None and node.parent.type in self._targets
