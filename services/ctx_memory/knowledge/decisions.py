"""Decisions: numbered, recorded once, found by number or by a part of their title."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctx_core.clock import utc_now
from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.documents import (
    Decision,
    parse_decision,
    render_decision,
    renumber_decision,
)
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope, decision_slug
from ctx_memory.knowledge.store import KnowledgeStore


@dataclass(frozen=True)
class RecordedDecision:
    """A decision with the entry that holds it."""

    entry: KnowledgeEntry
    decision: Decision


async def all_decisions(store: KnowledgeStore) -> list[RecordedDecision]:
    """Return every decision of any scope, by number."""
    found = [_recorded(entry) for entry in await store.all(EntryType.DECISION)]
    return sorted(found, key=lambda each: (each.decision.number, each.entry.key))


async def find_decision(store: KnowledgeStore, reference: str) -> RecordedDecision:
    """Find by number, else by a part of the title; raises KnowledgeNotFound."""
    decisions = await all_decisions(store)
    wanted = reference.strip()
    if wanted.lstrip("0").isdigit() or wanted == "0":
        matches = [each for each in decisions if each.decision.number == int(wanted)]
    else:
        part = decision_slug(wanted) if wanted else ""
        matches = [each for each in decisions if part and part in each.entry.key]
    if not matches:
        raise KnowledgeNotFound(f"Decision '{reference}' not found")
    return matches[0]


async def record_decision(
    store: KnowledgeStore, decision: Decision, scope: Scope = Scope.PUBLIC
) -> RecordedDecision:
    """Store a decision under the next number. Its own number and date are not used."""
    title = " ".join(decision.title.split())
    if not title:
        raise KnowledgeRefused("Title cannot be empty")

    async def work() -> RecordedDecision:
        number = _next_number(await all_decisions(store))
        made = replace(decision, title=title, number=number, date=f"{utc_now():%Y-%m-%d}")
        key = f"{number:04d}-{decision_slug(title)}"
        text = render_decision(made)
        entry = KnowledgeEntry(EntryType.DECISION, key, text, scope, decision.author)
        await store.save(entry)
        return RecordedDecision(entry, made)

    return await store.write(work)


async def renumber_private(store: KnowledgeStore) -> list[dict[str, str]]:
    """Give private decisions another number where a public one of theirs arrived."""

    async def work() -> list[dict[str, str]]:
        decisions = await all_decisions(store)
        shared = {d.decision.number for d in decisions if d.entry.scope is Scope.PUBLIC}
        moved = []
        for each in decisions:
            if each.entry.scope is Scope.PUBLIC or each.decision.number not in shared:
                continue
            number = _next_number(await all_decisions(store))
            key = f"{number:04d}-{each.entry.key.partition('-')[2]}"
            content = renumber_decision(each.entry.content.encode(), number).decode()
            await store.save(replace(each.entry, key=key, content=content))
            await store.private.delete(EntryType.DECISION, each.entry.key)
            moved.append({"from": each.entry.key, "to": key})
        return moved

    return await store.write(work)


def _recorded(entry: KnowledgeEntry) -> RecordedDecision:
    number = entry.key.partition("-")[0]
    return RecordedDecision(
        entry, parse_decision(entry.content, int(number) if number.isdigit() else 0)
    )


def _next_number(decisions: Sequence[RecordedDecision]) -> int:
    return 1 + max((each.decision.number for each in decisions), default=0)
