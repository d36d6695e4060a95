"""Whole folders are merged file by file; decisions of one number are told apart."""

import pytest

from ctx_memory.knowledge.documents import Decision, parse_decision, render_decision
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import merge_trees

A = "knowledge/a.md"


def decision(number: int, title: str, date: str = "2026-01-01") -> dict[str, bytes]:
    path = f"knowledge/decisions/{number:04d}-{title.lower().replace(' ', '-')}.md"
    return {path: render_decision(Decision(number, title, date)).encode()}


def test_files_that_one_side_changed_are_taken() -> None:
    base = {"knowledge/a.md": b"a", "knowledge/b.md": b"b", "knowledge/c.md": b"c"}
    ours = {"knowledge/a.md": b"ours", "knowledge/b.md": b"b", "knowledge/new.md": b"n"}
    theirs = {"knowledge/a.md": b"a", "knowledge/c.md": b"c", "knowledge/other.md": b"o"}
    merged = merge_trees(base, ours, theirs)
    assert merged.files == {
        "knowledge/a.md": b"ours",
        "knowledge/new.md": b"n",
        "knowledge/other.md": b"o",
    }
    assert (merged.conflicts, merged.auto_resolved, merged.renumbered) == ([], [], [])


@pytest.mark.parametrize(("prefer", "kept"), [(Side.OURS, {A: b"ours"}), (Side.THEIRS, {})])
def test_a_file_that_one_side_deleted_and_the_other_changed_is_a_conflict(
    prefer: Side, kept: dict[str, bytes]
) -> None:
    merged = merge_trees({A: b"a"}, {A: b"ours"}, {}, prefer)
    assert merged.files == kept
    [conflict] = merged.conflicts
    assert conflict.messages == ("Whole-file conflict: deleted by theirs but modified by ours",)
    assert (conflict.base, conflict.ours, conflict.theirs) == (b"a", b"ours", None)


def test_what_the_program_keeps_about_entries_is_never_a_conflict() -> None:
    base = {"manifest.json": b'{"updated_at": "1", "project": {"id": "x"}}'}
    ours = {"manifest.json": b'{"updated_at": "3", "project": {"id": "ours"}}'}
    theirs = {"manifest.json": b'{"updated_at": "2", "project": {"id": "theirs"}}'}
    merged = merge_trees(base, ours, theirs)
    assert merged.conflicts == []
    assert b'"theirs"' in merged.files["manifest.json"]
    assert b'"3"' in merged.files["manifest.json"]


def test_text_that_is_not_utf8_is_a_whole_file_conflict() -> None:
    merged = merge_trees({A: b"a"}, {A: b"\xff"}, {A: b"\xfe"})
    assert merged.conflicts[0].messages[0].startswith("Whole-file conflict")
    assert merged.files == {A: b"\xff"}


def test_a_number_that_both_sides_took_stays_with_the_one_that_was_shared_first() -> None:
    base = decision(1, "First")
    ours = base | decision(2, "Ours") | decision(3, "Ours Too")
    theirs = base | decision(2, "Theirs", "2026-02-01")
    merged = merge_trees(base, ours, theirs)
    titles = {path: parse_decision(text.decode()).title for path, text in merged.files.items()}
    assert titles == {
        "knowledge/decisions/0001-first.md": "First",
        "knowledge/decisions/0002-theirs.md": "Theirs",
        "knowledge/decisions/0003-ours-too.md": "Ours Too",
        "knowledge/decisions/0004-ours.md": "Ours",
    }
    [moved] = merged.renumbered
    assert (moved.old, moved.new) == (
        "knowledge/decisions/0002-ours.md",
        "knowledge/decisions/0004-ours.md",
    )
    assert merged.files[moved.new].startswith(b"# 0004 - Ours\n")


def test_two_decisions_of_one_number_and_title_are_both_kept() -> None:
    ours, theirs = decision(1, "Use Redis", "2026-01-01"), decision(1, "Use Redis", "2026-02-02")
    merged = merge_trees({}, ours, theirs)
    assert len(merged.files) == 2
    assert merged.conflicts == []
    assert [moved.new for moved in merged.renumbered] == ["knowledge/decisions/0002-use-redis.md"]


def test_a_decision_that_both_sides_have_alike_is_one() -> None:
    merged = merge_trees({}, decision(1, "Same"), decision(1, "Same"))
    assert len(merged.files) == 1
    assert merged.renumbered == []


def test_numbers_that_a_merge_by_git_left_twice_are_told_apart() -> None:
    both = decision(1, "B", "2026-01-01") | decision(1, "A", "2026-02-01")
    merged = merge_trees(both, both, both)
    assert sorted(merged.files) == [
        "knowledge/decisions/0001-b.md",
        "knowledge/decisions/0002-a.md",
    ]
