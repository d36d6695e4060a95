"""Links similar contexts, hides irrelevant ones, and deletes hidden ones after 7 days."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ctx_core.clock import utc_now
from ctx_memory.conversations.calls import CallTracker
from ctx_memory.conversations.relations import Relations
from ctx_memory.conversations.similarity import Similarity
from ctx_memory.projection.drains import BackgroundDrain
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.relations import RelationType
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import SummaryLevel
from ctx_memory.records.entry import moment

log = logging.getLogger(__name__)

MIN_CONTEXTS = 10  # with so few contexts nothing is cleaned up
NEAREST = 20  # similar contexts that a cleanup keeps
RECENT = timedelta(days=7)  # a context that changed in this time is kept
UNDO = timedelta(days=7)  # the time in which a cleanup can be undone
KEPT_IMPORTANCE = 0.8  # a context with a summary of this importance is kept
MIN_LINKED_MESSAGES = 3  # a shorter context says too little to be linked
MAX_LINKS = 10


@dataclass(frozen=True)
class CleanupResult:
    """The contexts that were removed, or the reason why nothing was looked at."""

    removed: Sequence[str]
    reason: str | None = None


class Upkeep:
    """Links similar contexts, removes irrelevant ones, brings them back or deletes them."""

    def __init__(
        self,
        records: ConversationStore,
        relations: Relations,
        similarity: Similarity,
        drain: BackgroundDrain,
        calls: CallTracker,
        *,
        threshold: float,
        link: bool,
        clean_up: bool,
    ) -> None:
        self._records = records
        self._relations = relations
        self._similarity = similarity
        self._drain = drain
        self._calls = calls
        self._threshold = threshold
        self._links = link
        self._cleans_up = clean_up

    async def after_summary(self, context_id: str) -> None:
        """Link similar contexts; clean up where the settings say so."""
        self._drain.soon()
        if self._links:
            await self._link(context_id)
        if self._cleans_up:
            result = await self.clean_up(context_id)
            if result.removed:
                log.warning(
                    "cleaned up for %s, undo within 7 days: %s",
                    context_id,
                    ", ".join(result.removed),
                )

    async def _link(self, context_id: str) -> None:
        conversation = await self._records.conversations.get(context_id)
        text = await self._text(context_id)
        if conversation is None or conversation.messages < MIN_LINKED_MESSAGES or text is None:
            return
        similar = await self._similarity.find(
            text, MAX_LINKS, without=context_id, at_least=self._threshold
        )
        async with self._calls.tracked(CallType.GRAPH_DB_ADD):
            await self._records.relations.replace_similar(context_id, dict(similar.found))

    async def clean_up(self, context_id: str) -> CleanupResult:
        """Remove irrelevant contexts, so that `undo` can bring them back for 7 days."""
        known = await self._records.conversations.all()
        text = await self._text(context_id)
        if len(known) <= MIN_CONTEXTS:
            return CleanupResult([], f"there are only {len(known)} contexts")
        if text is None:
            return CleanupResult([], f"'{context_id}' has no summary to compare with: summarize it")
        similar = await self._similarity.find(
            text, NEAREST, without=context_id, at_least=self._threshold / 2
        )
        if similar.by != "vectors":
            return CleanupResult([], f"contexts cannot be compared: {similar.degraded[0]}")
        kept = {context_id, *(id_ for id_, _ in similar.found)}
        kept |= await self._family(context_id)
        recent = utc_now() - RECENT
        old = [each.id for each in known if each.updated_at < moment(recent)]
        unkept = [id_ for id_ in old if id_ not in kept]
        summaries = await self._records.summaries.get(SummaryLevel.CONVERSATION, unkept)
        removable = [
            id_
            for id_ in unkept
            if id_ not in summaries
            or float(summaries[id_].details.get("importanceScore", 0.5)) < KEPT_IMPORTANCE
        ]
        return CleanupResult(
            await self._records.conversations.remove(removable, context_id, recent)
        )

    async def _family(self, context_id: str) -> set[str]:
        """Return related contexts in both directions, and the children of the parents."""
        found = set(await self._relations.related(context_id))
        for parent in await self._relations.related(context_id, RelationType.CHILD):
            found |= set(await self._relations.related(parent, RelationType.PARENT))
        return found

    async def _text(self, context_id: str) -> str | None:
        """Return the points of a summary, else its text: extractive summaries share a frame."""
        found = await self._records.summaries.get(SummaryLevel.CONVERSATION, [context_id])
        if context_id not in found:
            return None
        return str(found[context_id].details.get("points") or found[context_id].text)

    async def undo(self, context_id: str) -> list[str]:
        """Bring back the contexts that cleanups for this one removed in the last 7 days."""
        return await self._records.conversations.restore(context_id)

    async def maintain(self) -> None:
        """Delete contexts removed more than 7 days ago, and calls beyond their retention."""
        purged = await self._records.conversations.purge(utc_now() - UNDO)
        await self._calls.purge()
        if purged:
            log.info("deleted for good, after 7 days: %s", ", ".join(purged))
            self._drain.soon()
            for type_ in (CallType.VECTOR_DB_DELETE, CallType.GRAPH_DB_DELETE):
                await self._calls.add(type_, 0.0)
