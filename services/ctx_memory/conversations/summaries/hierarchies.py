"""Summarises parents from their children, and all hierarchies in one meta-summary."""

from collections.abc import Sequence

from ctx_core.text.excerpts import truncate
from ctx_memory.conversations.summaries.summariser import Tracker
from ctx_memory.records.conversations.calls import CallType
from ctx_memory.records.conversations.relations import Direction, RelationType
from ctx_memory.records.conversations.store import ConversationStore
from ctx_memory.records.conversations.summaries import Summary, SummaryDraft, SummaryLevel
from ctx_memory.summaries.writer import SummaryWriter

META_ID = "meta_project"  # the id of the one meta-summary, which is updated
MAX_NAMED = 3  # summaries that a summary without a decoder quotes
SHOWN_CHARACTERS = 200
MAX_READ = 200  # summaries that are read for one above them


class HierarchySummariser:
    """Writes the summaries above conversations, up to `max_depth` levels of parents."""

    def __init__(
        self,
        records: ConversationStore,
        writer: SummaryWriter,
        tracked: Tracker,
        max_depth: int,
        meta_threshold: int,
    ) -> None:
        self._records = records
        self._writer = writer
        self._tracked = tracked
        self._max_depth = max_depth
        self._meta_threshold = meta_threshold

    async def update_above(self, id_: str) -> None:
        """Write the summaries of a conversation's parents, of their parents, and the meta-summary.

        Raises DecoderFailed.
        """
        seen, level = {id_}, [id_]
        written = 0
        for _ in range(self._max_depth):
            above: dict[str, None] = {}
            for each in level:
                above |= dict.fromkeys(await self._neighbours(each, RelationType.CHILD))
            level = [each for each in above if each not in seen]
            seen.update(level)
            for parent in level:
                written += await self._update(parent)
        if written:
            await self._update_meta()

    async def _neighbours(self, id_: str, type_: RelationType) -> list[str]:
        found = await self._records.relations.of(id_, type_, Direction.OUTGOING)
        return [each.target for each in found]

    async def _update(self, parent: str) -> bool:
        """Write a parent's summary; return False where no child has a summary to read."""
        children = await self._neighbours(parent, RelationType.PARENT)
        summaries = await self._records.summaries.get(SummaryLevel.CONVERSATION, children)
        # A child that is a parent itself also counts with the summary of its own children.
        below = await self._records.summaries.get(SummaryLevel.HIERARCHY, children)
        if not summaries and not below:
            return False
        async with self._tracked(CallType.LLM_HIERARCHICAL_SUMMARIZE):
            known = _most_important([*below.values(), *summaries.values()])
            total = await self._records.messages.count(children)
            written = await self._writer.combine([_line(each) for each in known])
            text = written or _hierarchy_text(known, len(children), total)
            draft = SummaryDraft(text, self._writer.name, {"childContextIds": children})
            await self._records.summaries.save_rollup(SummaryLevel.HIERARCHY, parent, draft)
        return True

    async def _update_meta(self) -> None:
        ids = await self._records.summaries.ids(SummaryLevel.HIERARCHY)
        if len(ids) < self._meta_threshold:
            return
        async with self._tracked(CallType.LLM_META_SUMMARIZE):
            found = await self._records.summaries.get(SummaryLevel.HIERARCHY, ids[:MAX_READ])
            known = [found[each] for each in ids[:MAX_READ] if each in found]
            written = await self._writer.combine([_line(each) for each in known])
            text = written or _meta_text(known, len(ids))
            draft = SummaryDraft(text, self._writer.name, {"contextIds": ids})
            await self._records.summaries.save_rollup(SummaryLevel.META, META_ID, draft)


def _most_important(summaries: Sequence[Summary]) -> list[Summary]:
    def key(summary: Summary) -> tuple[float, str]:
        return float(summary.details.get("importanceScore", 0.5)), summary.updated_at

    return sorted(summaries, key=key, reverse=True)[:MAX_READ]


def _line(summary: Summary) -> str:
    return f"Context {summary.id}: {' '.join(summary.text.split())}"


def _shown(summaries: Sequence[Summary]) -> str:
    lines = (_line(each) for each in summaries[:MAX_NAMED])
    return "\n".join(truncate(line, SHOWN_CHARACTERS) for line in lines)


def _hierarchy_text(summaries: Sequence[Summary], count: int, messages: int) -> str:
    return (
        f"Hierarchical summary for {count} related contexts.\n\nMost important topics:\n"
        f"{_shown(summaries)}\n\nThis hierarchy contains a total of {messages} messages."
    )


def _meta_text(summaries: Sequence[Summary], count: int) -> str:
    return (
        f"Project-wide meta-summary covering {count} hierarchical contexts.\n\n{_shown(summaries)}"
    )
