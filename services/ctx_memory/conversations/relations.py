"""Relationships of contexts: adds and lists them, finds paths, shows hierarchies."""

from collections.abc import Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from ctx_core.errors import RequestInvalid
from ctx_memory.conversations.calls import CallTracker
from ctx_memory.conversations.requests import IgnorePatterns
from ctx_memory.conversations.responses import (
    HierarchicalSummary,
    MetaSummary,
    hierarchical_summary,
    meta_summary,
)
from ctx_memory.conversations.summaries.queue import SummaryQueue
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.relations import Direction, Relation, RelationType
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import SummaryLevel


class HierarchicalStructure(TypedDict):
    """The parent of a context, where it has one, and its children."""

    parent: NotRequired[str]
    children: list[str]


class Relations:
    """Keeps relationships; where they are off, adding and searching them is refused."""

    def __init__(
        self,
        records: ConversationStore,
        ignored: IgnorePatterns,
        calls: CallTracker,
        queue: SummaryQueue,
        *,
        enabled: bool,
    ) -> None:
        self._records = records
        self._ignored = ignored
        self._calls = calls
        self._queue = queue
        self._enabled = enabled

    async def add(self, source: str, target: str, type_: RelationType, weight: float) -> None:
        """Add a relationship or change its weight. Raises RequestInvalid."""
        self._require_enabled()
        self._ignored.check(source)
        self._ignored.check(target)
        if source == target:
            raise RequestInvalid(f"A context cannot be related to itself: '{source}'")
        if type_ is RelationType.PARENT:
            await self._refuse_loop(source, target)
        elif type_ is RelationType.CHILD:
            await self._refuse_loop(target, source)
        async with self._calls.tracked(CallType.GRAPH_DB_ADD):
            await self._records.relations.add(Relation(source, target, type_, weight))
        if type_ is RelationType.PARENT:
            self._queue.hierarchy_changed(target)
        elif type_ is RelationType.CHILD:
            self._queue.hierarchy_changed(source)

    async def related(
        self,
        context_id: str,
        type_: RelationType | None = None,
        direction: Direction = Direction.BOTH,
    ) -> list[str]:
        """Return the contexts to which one is related, the strongest relationship first."""
        found = await self.edges(context_id, type_, direction)
        others = (each.target if each.source == context_id else each.source for each in found)
        return list(dict.fromkeys(others))

    async def edges(
        self,
        context_id: str,
        type_: RelationType | None = None,
        direction: Direction = Direction.BOTH,
    ) -> Sequence[Relation]:
        """Return the relationships of a context, none where they are off."""
        if not self._enabled:
            return []
        return await self._records.relations.of(context_id, type_, direction)

    async def find_related(
        self, context_id: str, type_: RelationType | None, direction: Direction
    ) -> list[str]:
        """Return related contexts as a counted call. Raises RequestInvalid where they are off."""
        self._require_enabled()
        async with self._calls.tracked(CallType.GRAPH_DB_SEARCH):
            return await self.related(context_id, type_, direction)

    async def path(self, source: str, target: str) -> list[str]:
        """Return the shortest directed path, [] where there is none. Raises RequestInvalid."""
        self._require_enabled()
        async with self._calls.tracked(CallType.GRAPH_DB_SEARCH):
            return await self._records.relations.path(source, target)

    # --- hierarchies -----------------------------------------------------------------------

    async def structure(self, context_id: str) -> HierarchicalStructure:
        """Return the parent and the children; of several parents the one of the greatest weight."""
        parents = await self.related(context_id, RelationType.CHILD, Direction.OUTGOING)
        children = await self.related(context_id, RelationType.PARENT, Direction.OUTGOING)
        if parents:
            return {"parent": parents[0], "children": children}
        return {"children": children}

    async def hierarchical_summary(self, context_id: str) -> HierarchicalSummary | None:
        found = await self._records.summaries.get(SummaryLevel.HIERARCHY, [context_id])
        return hierarchical_summary(found[context_id]) if context_id in found else None

    async def hierarchical_ids(self) -> list[str]:
        """Return the contexts that have a hierarchical summary, the newest first."""
        return await self._records.summaries.ids(SummaryLevel.HIERARCHY)

    async def meta_summary(self, meta_id: str) -> MetaSummary | None:
        found = await self._records.summaries.get(SummaryLevel.META, [meta_id])
        return meta_summary(found[meta_id]) if meta_id in found else None

    async def meta_ids(self) -> list[str]:
        """Return the ids of meta-summaries, the newest first."""
        return await self._records.summaries.ids(SummaryLevel.META)

    async def _refuse_loop(self, parent: str, child: str) -> None:
        """Raise RequestInvalid where the child is above its parent: a hierarchy has no loops."""
        above, seen = [parent], set[str]()
        while above:
            here = above.pop()
            if here == child:
                raise RequestInvalid(
                    f"'{child}' is above '{parent}' in the hierarchy: it cannot be its child too"
                )
            if here not in seen:
                seen.add(here)
                above += await self.related(here, RelationType.CHILD, Direction.OUTGOING)

    def _require_enabled(self) -> None:
        if not self._enabled:
            raise RequestInvalid("Relationships are off: the server has USE_GRAPH_DB=false")
