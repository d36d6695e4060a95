"""The text formats of the folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx_core.errors import KnowledgeRefused
from ctx_memory.knowledge.documents import (
    Decision,
    dump_ndjson,
    parse_decision,
    parse_ndjson,
    parse_object,
    parse_skill,
    render_decision,
    render_skill,
    renumber_decision,
)
from ctx_memory.knowledge.entry import decision_slug, entry_key, skill_folder
from ctx_memory.knowledge.folder import is_safe_path

LINES = (
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).map(str.strip).filter(bool)
)


@given(LINES, LINES, st.lists(LINES))
def test_a_decision_is_read_as_it_was_written(title: str, author: str, body: list[str]) -> None:
    text = "\n".join(line.lstrip("#") or "x" for line in body).strip()
    made = Decision(7, title, "2026-01-02", "accepted", author, text, text, "")
    assert parse_decision(render_decision(made)) == made


def test_a_damaged_decision_gives_what_it_has() -> None:
    assert parse_decision("") == Decision(0, "Untitled")
    assert parse_decision("# Only a title\n", 4) == Decision(4, "Only a title")
    assert parse_decision("no head\n## Decision\nyes\n").decision == "yes"


def test_renumbering_changes_the_number_alone() -> None:
    text = render_decision(Decision(2, "Number 2 - of two", "2026-01-02")).encode() + b"\xff"
    assert renumber_decision(text, 12) == text.replace(b"# 0002 -", b"# 0012 -", 1)
    assert renumber_decision(b"no title", 3) == b"no title"


@pytest.mark.parametrize("text", ["", "no head", "---\nname: x\nnever closed"])
def test_a_skill_without_a_head_is_all_instructions(text: str) -> None:
    assert parse_skill(text).fields == {}
    assert parse_skill(text).instructions == text


def test_the_head_of_a_skill() -> None:
    head = 'name: a: b\nflag: True\nlist: ["x", "y"]\nbare: [p, \'q\']\nquoted: "z"\n'
    text = f"---\n{head}---\n\nbody\n"
    assert parse_skill(text).fields == {
        "name": "a: b",
        "flag": True,
        "list": ["x", "y"],
        "bare": ["p", "q"],
        "quoted": "z",
    }
    made = render_skill("two\nlines", "a\nb", "\n\n## Steps\n\n")
    assert made == "---\nname: two lines\ndescription: a b\n---\n\n## Steps\n"


def test_damaged_json_is_empty_and_damaged_lines_are_kept() -> None:
    assert parse_object(None) == parse_object("{") == parse_object("[1]") == {}
    text = '{"id": 1}\n\n{"torn\n[1]\n'
    assert dump_ndjson(parse_ndjson(text)) == '{"id": 1}\n{"torn\n[1]\n'


@given(st.text())
def test_every_key_is_a_safe_name(given_key: str) -> None:
    try:
        key = entry_key(given_key)
    except KnowledgeRefused:
        return
    assert is_safe_path(f"{key}.md")
    assert "/" not in key
    assert entry_key(key) == key


@given(st.text(min_size=1))
def test_every_slug_is_a_safe_name(title: str) -> None:
    slug = decision_slug(title)
    assert slug
    assert is_safe_path(f"0001-{slug}.md")
    assert "/" not in slug
    assert len(slug) <= 60


@pytest.mark.parametrize("name", ["..", "a/..", "../a", "a\\b", "a\0b", "a..b/"])
def test_a_skill_name_is_not_a_path(name: str) -> None:
    with pytest.raises(KnowledgeRefused, match="must not be a path"):
        skill_folder(name)


@pytest.mark.parametrize(
    "path", ["../a", "/a", "a//b", "a/./b", "a/.git/b", "a/.GIT", "a\\b", "a\nb", "", "a:b", "a/"]
)
def test_unsafe_paths(path: str) -> None:
    assert not is_safe_path(path)
