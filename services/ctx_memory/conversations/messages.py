"""Adds messages to contexts, reads them page by page, and summarises them."""

from collections.abc import Sequence

from ctx_core.secrets.screen import SecretScreen
from ctx_memory.conversations.relations import Relations
from ctx_memory.conversations.requests import (
    VALUES,
    IgnorePatterns,
    Importance,
    estimate_tokens,
    judge,
)
from ctx_memory.conversations.responses import (
    ContextSummary,
    RetrievedContext,
    context_summary,
    message,
)
from ctx_memory.conversations.summaries.queue import SummaryQueue
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.projection.drains import BackgroundDrain
from ctx_memory.records.conversations.conversations import SummaryThresholds
from ctx_memory.records.conversations.messages import MessageDraft
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import Summary

DEFAULT_PAGE = 100  # messages; few readers want more of a long conversation


class Messages:
    """Adds and reads messages; `thresholds` is None where nothing is summarised automatically."""

    def __init__(
        self,
        records: ConversationStore,
        relations: Relations,
        ignored: IgnorePatterns,
        secrets: SecretScreen,
        summariser: ConversationSummariser,
        queue: SummaryQueue,
        drain: BackgroundDrain,
        thresholds: SummaryThresholds | None,
    ) -> None:
        self._records = records
        self._relations = relations
        self._ignored = ignored
        self._secrets = secrets
        self._summariser = summariser
        self._queue = queue
        self._drain = drain
        self._thresholds = thresholds

    async def add(
        self,
        context_id: str,
        role: str,
        content: str,
        importance: Importance | None,
        tags: Sequence[str],
    ) -> Sequence[str]:
        """Store a message and return warnings; vectors and summaries follow in the background.

        Raises RequestInvalid for an ignored context.
        """
        self._ignored.check(context_id)
        draft = MessageDraft(
            conversation=context_id,
            role=role,
            text=content,
            importance=VALUES[importance or judge(content)],
            tags=[tag for tag in dict.fromkeys(each.strip() for each in tags) if tag],
            tokens=estimate_tokens(content),
        )
        screened = await self._secrets.screen(draft)
        conversation = await self._records.messages.add(screened.value)
        self._drain.soon()
        if self._thresholds is not None and self._thresholds.are_met_by(conversation):
            self._queue.conversation_grew(context_id)
        return screened.warnings

    async def retrieve(
        self, context_id: str, limit: int | None = None, cursor: int | None = None
    ) -> RetrievedContext:
        """Return the newest messages, or the messages before the cursor of an earlier page."""
        page, summary = await self._records.messages.page(context_id, limit or DEFAULT_PAGE, cursor)
        result: RetrievedContext = {
            "contextId": context_id,
            "messages": [message(entry) for entry in page.messages],
            "summary": None if summary is None else await self._rendered(summary),
            "totalMessages": page.total,
        }
        if page.older_before is not None:
            result["nextCursor"] = page.older_before
        return result

    async def summarize(self, context_id: str) -> ContextSummary | None:
        """Bring the summary up to date; None where the context has no messages.

        Raises DecoderFailed.
        """
        summary = await self._summariser.summarise(context_id)
        if summary is None:
            return None
        self._drain.soon()
        self._queue.hierarchy_changed(context_id)
        self._queue.summary_changed(context_id)
        return await self._rendered(summary)

    async def context_ids(self) -> list[str]:
        """Return every context, the most recently changed first."""
        return [each.id for each in await self._records.conversations.all()]

    async def _rendered(self, summary: Summary) -> ContextSummary:
        return context_summary(summary, await self._relations.related(summary.id))
