"""A folder that another program wrote opens unchanged, and stays readable for it."""

import json

from ctx_memory.knowledge.board import read_preferences, read_sessions, read_state
from ctx_memory.knowledge.decisions import all_decisions, find_decision
from ctx_memory.knowledge.documents import parse_skill
from ctx_memory.knowledge.dotpath import get_value
from ctx_memory.knowledge.entries import add_entry
from ctx_memory.knowledge.entry import EntryType, Scope
from ctx_memory.knowledge.skills import (
    list_proposals,
    rate_skill,
    report_usage,
    skill_statistics,
)
from scripts.bench.fixtures.clones import Clone, committed, every_object
from tests.support.old_folder import FILES, LOCAL, read_folder, write_old_folder


async def test_everything_is_read_and_nothing_is_changed(a: Clone) -> None:
    folder = write_old_folder(a.root)
    knowledge = {entry.key: entry for entry in await a.store.all(EntryType.KNOWLEDGE)}
    assert set(knowledge) == {"architecture", "Mixed_Case", "secret-plan"}
    assert knowledge["architecture"].author == "mcp:cursor"
    assert knowledge["secret-plan"].scope is Scope.PRIVATE
    decisions = await all_decisions(a.store)
    assert [(d.decision.number, d.decision.status) for d in decisions] == [
        (1, "accepted"),
        (2, "superseded"),
    ]
    assert (await find_decision(a.store, "postgres")).decision.context == "Need ACID."
    [deploy, hidden] = await a.store.all(EntryType.SKILL)
    assert hidden.scope is Scope.PRIVATE
    assert parse_skill(deploy.content).fields["tags"] == ["ops", "ci"]
    assert skill_statistics(deploy) == {
        "skill_name": "Deploy",
        "usage_count": 1,
        "avg_rating": 2.5,
        "rating_count": 2,
        "last_used": "2025-05-01T00:00",
        "needs_attention": True,
    }
    assert [each["id"] for each in await list_proposals(a.store)] == ["p1"]
    assert (await read_state(a.store))["blockers"] == ["b"]
    assert await read_preferences(a.store, "team") == {"tone": "plain"}
    assert [each["summary"] for each in await read_sessions(a.store)] == ["began"]
    assert await get_value(a.store, "manifest.project.name") == "Old Shop"
    assert read_folder(folder) == FILES


async def test_a_write_changes_what_it_must_and_nothing_else(a: Clone) -> None:
    folder = write_old_folder(a.root)
    await add_entry(a.store, EntryType.KNOWLEDGE, "new", "text", author="mcp:test")
    await report_usage(a.store, "deploy", "mcp:test")
    after = read_folder(folder)
    changed = {name for name in after if after[name] != FILES.get(name)}
    assert changed == {"knowledge/new.md", "knowledge/.meta.json", "skills/deploy/.usage.ndjson"}
    assert json.loads(after["knowledge/.meta.json"])["architecture.md"] == {"author": "mcp:cursor"}
    old = FILES["skills/deploy/.usage.ndjson"]
    assert after["skills/deploy/.usage.ndjson"].startswith(old)


async def test_torn_lines_survive_a_write(a: Clone) -> None:
    folder = write_old_folder(a.root)
    await rate_skill(a.store, "deploy", 5, "better", "mcp:test")
    lines = (folder / "skills/deploy/.feedback.ndjson").read_text().splitlines()
    assert lines[2] == '{"torn'
    assert len(lines) == 4


async def test_what_it_calls_private_is_never_committed(a: Clone, b: Clone) -> None:
    write_old_folder(a.root)
    assert (await a.push())["status"] == "pushed"
    assert set(committed(a.root)) == set(FILES) - LOCAL
    assert b"only on this machine" not in every_object(a.root)
    assert b"quiet" not in every_object(a.root)
    await b.pull()
    assert set(read_folder(b.folder)) == set(FILES) - LOCAL
    assert read_folder(a.folder) == FILES


async def test_a_private_file_moves_to_the_records_when_it_is_written(a: Clone) -> None:
    folder = write_old_folder(a.root)
    await add_entry(a.store, EntryType.KNOWLEDGE, "secret-plan", "new plan")
    assert not (folder / "knowledge/secret-plan.md").exists()
    assert not (folder / "knowledge/.scope.json").exists()
    entry = await a.store.get(EntryType.KNOWLEDGE, "secret-plan")
    assert entry is not None
    assert (entry.content, entry.scope) == ("new plan", Scope.PRIVATE)
