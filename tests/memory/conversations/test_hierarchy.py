"""Summaries above contexts: levels, cycles, one meta-summary."""

from ctx_core.settings import Settings
from ctx_memory.conversations.conversations import Conversations
from ctx_memory.conversations.summaries.hierarchies import META_ID, HierarchySummariser
from ctx_memory.conversations.summaries.summariser import ConversationSummariser
from ctx_memory.records.conversations.relations import Relation, RelationType
from ctx_memory.records.conversations.summaries import SummaryLevel
from ctx_memory.summaries.writer import SummaryWriter
from tests.support.threads import serving


def _hierarchies(conversations: Conversations, depth: int = 3) -> HierarchySummariser:
    writer = SummaryWriter(None, 2000, 8192)
    tracked = conversations.calls.tracked
    return HierarchySummariser(conversations.records, writer, tracked, depth, 3)


async def _leaf(conversations: Conversations, id_: str, text: str) -> None:
    await conversations.messages.add(id_, "user", text, None, [])
    summariser = ConversationSummariser(
        conversations.records, SummaryWriter(None, 2000, 8192), conversations.calls.tracked
    )
    await summariser.summarise(id_)


async def _chain(settings: Settings, depth: int) -> list[str]:
    """Return the contexts above a leaf that were summarised."""
    off = settings.model_copy(update={"hierarchical_context": False})
    async with serving(off) as (memory, _):
        conversations = memory.conversations
        await _leaf(conversations, "leaf", "Rows are read in batches.")
        for parent, child in (("p1", "leaf"), ("p2", "p1"), ("p3", "p2"), ("p4", "p3")):
            await conversations.relations.add(parent, child, RelationType.PARENT, 0.8)
        await _hierarchies(conversations, depth).update_above("leaf")
        return sorted(await conversations.relations.hierarchical_ids())


async def test_levels_end_at_the_depth(settings: Settings) -> None:
    assert await _chain(settings, 2) == ["p1", "p2"]


async def test_a_cycle_of_parents_ends(conversations: Conversations) -> None:
    """No call makes one, but an imported folder or records of an earlier version may have it."""
    await _leaf(conversations, "a", "Rows are read in batches.")
    for parent, child in (("b", "a"), ("a", "b")):
        await conversations.records.relations.add(Relation(parent, child, RelationType.PARENT, 0.8))
    await _hierarchies(conversations).update_above("a")
    summary = await conversations.relations.hierarchical_summary("b")
    assert summary is not None
    assert summary["childContextIds"] == ["a"]
    assert await conversations.relations.path("a", "b") == ["a", "b"]


async def test_parent_and_child_stay_inverse(conversations: Conversations) -> None:
    await conversations.relations.add("p", "c", RelationType.PARENT, 0.3)
    await conversations.relations.add("c", "p", RelationType.CHILD, 0.9)
    edges = await conversations.relations.edges("p")
    assert {(e.source, e.target, e.type.value, e.weight) for e in edges} == {
        ("p", "c", "parent", 0.9),
        ("c", "p", "child", 0.9),
    }


async def test_the_meta_summary_is_updated_not_multiplied(conversations: Conversations) -> None:
    hierarchies = _hierarchies(conversations)
    for number in range(5):
        await _leaf(conversations, f"c{number}", f"Fact {number} about batches.")
        relation = Relation(f"p{number}", f"c{number}", RelationType.PARENT, 0.8)
        await conversations.records.relations.add(relation)
        await hierarchies.update_above(f"c{number}")
    assert await conversations.relations.meta_ids() == [META_ID]
    meta = (await conversations.records.summaries.get(SummaryLevel.META, [META_ID]))[META_ID]
    assert meta.version == 3
    assert sorted(meta.details["contextIds"]) == [f"p{number}" for number in range(5)]
    assert meta.text.startswith("Project-wide meta-summary covering 5 hierarchical contexts.")
