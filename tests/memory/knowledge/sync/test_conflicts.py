"""Merges that an agent resolves: they survive restarts, abort restores, finalize is one commit."""

from pathlib import Path
from typing import Any

import pytest

from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from scripts.bench.fixtures.clones import Clone, Clones, clone_at, committed

BASE = "intro\n\n## A\na\n\n## B\nb\n\n## C\nc\n"
ARCH = ".context-teleport/knowledge/arch.md"


@pytest.fixture
async def conflict(a: Clone, b: Clone) -> dict[str, Any]:
    """Both changed section A; a also changed C and another entry."""
    await a.put("arch", BASE)
    await a.push()
    await b.pull()
    await a.put("arch", BASE.replace("\na\n", "\nfrom a\n").replace("\nc\n", "\nnew c\n"))
    await a.put("other", "from a")
    await a.push()
    await b.put("arch", BASE.replace("\na\n", "\nfrom b\n"))
    await b.put("mine", "from b")
    return await b.pull("agent")


def tree(root: Path) -> dict[str, bytes]:
    """Every file of the work tree, except git's own."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git/" not in f"{path.relative_to(root)}/"
    }


async def test_conflicts_are_reported_and_nothing_changes(
    conflict: dict[str, Any], b: Clone
) -> None:
    assert conflict["status"] == "conflicts"
    assert conflict["files"] == [ARCH]
    [reported] = conflict["report"]["conflicts"]
    assert reported["file_path"] == ARCH
    assert "from b" in reported["ours_preview"]
    assert "from a" in reported["theirs_preview"]
    assert await b.text("other") is None
    assert "from b" in (await b.text("arch") or "")
    status = await b.resolution.status()
    assert (status["status"], status["conflict_id"]) == ("conflicts", conflict["conflict_id"])


async def test_the_detail_of_a_file(conflict: dict[str, Any], b: Clone) -> None:
    detail = await b.resolution.detail(ARCH)
    assert detail["file_path"] == ARCH
    assert "from b" in detail["ours_content"]
    assert "from a" in detail["theirs_content"]
    assert detail["base_content"] == BASE
    assert "-from b" in detail["diff"]
    assert "+from a" in detail["diff"]
    assert detail["section_analysis"] == {
        "has_section_conflicts": True,
        "conflict_details": ["Section '## A': both sides modified differently"],
        "auto_merged_content": None,
    }
    with pytest.raises(KnowledgeNotFound, match=r"No unresolved conflict for other\.md"):
        await b.resolution.detail("other.md")


async def test_a_resolved_merge_is_one_commit(
    conflict: dict[str, Any], b: Clone, clones: Clones
) -> None:
    commits = int(b.git("rev-list", "--count", "--first-parent", "HEAD"))
    resolved = await b.resolution.resolve(ARCH, BASE.replace("\na\n", "\nboth\n"))
    assert resolved == {"status": "resolved", "file_path": ARCH, "remaining": 0}
    again = clone_at(b.root, clones.records)  # a server that was started anew
    done = await again.resolution.finalize()
    assert done == {
        "status": "merged",
        "commit": b.git("rev-parse", "--short=7", "HEAD"),
        "strategy": "interactive",
        "resolved": 1,
        "skipped": 0,
    }
    assert int(b.git("rev-list", "--count", "--first-parent", "HEAD")) == commits + 1
    assert b.git("log", "-1", "--format=%s") == "ctx: merge origin/main (interactive resolution)"
    assert await b.texts() == {
        "arch": BASE.replace("\na\n", "\nboth\n"),
        "mine": "from b",
        "other": "from a",
    }
    assert b.status() == []
    assert await b.resolution.status() == {"status": "clean"}
    assert (await b.push())["status"] == "pushed"
    assert set(committed(b.root, "origin/main")) == set(committed(b.root))


async def test_what_is_not_resolved_stays_ours(conflict: dict[str, Any], b: Clone) -> None:
    done = await b.resolution.finalize()
    assert (done["resolved"], done["skipped"]) == (0, 1)
    assert await b.text("arch") == BASE.replace("\na\n", "\nfrom b\n").replace("\nc\n", "\nnew c\n")
    assert await b.text("other") == "from a"


async def test_abort_restores_exactly(a: Clone, b: Clone) -> None:
    await a.put("arch", BASE)
    await a.push()
    await b.pull()
    await a.put("arch", BASE.replace("\na\n", "\nfrom a\n"))
    await a.push()
    await b.put("arch", BASE.replace("\na\n", "\nfrom b\n"))
    b.repository.write("staged.py", "s")
    b.git("add", "staged.py")
    before = tree(b.root), b.git("rev-parse", "HEAD"), b.git("ls-files", "--stage"), b.status()
    assert (await b.pull("agent"))["status"] == "conflicts"
    await b.resolution.resolve(ARCH, "resolved")
    assert await b.resolution.abort() == {"status": "aborted"}
    after = tree(b.root), b.git("rev-parse", "HEAD"), b.git("ls-files", "--stage"), b.status()
    assert after == before
    assert (await b.pull("agent"))["status"] == "conflicts"


async def test_other_syncs_wait_for_the_merge(conflict: dict[str, Any], b: Clone) -> None:
    for attempt in (b.push(), b.pull(), b.pull("agent")):
        with pytest.raises(KnowledgeRefused, match="conflicts are pending"):
            await attempt


async def test_entries_written_meanwhile_are_kept(conflict: dict[str, Any], b: Clone) -> None:
    await b.resolution.resolve(ARCH, BASE.replace("\na\n", "\nboth\n"))
    await b.put("late", "written meanwhile")
    await b.put("arch", BASE.replace("\na\n", "\nfrom b\n").replace("\nb\n", "\nlate b\n"))
    await b.resolution.finalize()
    assert await b.text("late") == "written meanwhile"
    text = await b.text("arch") or ""
    assert "both" in text
    assert "late b" in text


async def test_a_resolution_that_no_longer_fits_is_asked_for_again(
    conflict: dict[str, Any], b: Clone
) -> None:
    await b.resolution.resolve(ARCH, BASE.replace("\na\n", "\nboth\n"))
    await b.put("arch", BASE.replace("\na\n", "\nfrom b, later\n"))
    with pytest.raises(KnowledgeRefused, match=r"arch\.md. Resolve again"):
        await b.resolution.finalize()
    assert (await b.resolution.status())["report"]["unresolved"] == 1
    await b.resolution.resolve(ARCH, BASE.replace("\na\n", "\nboth again\n"))
    assert (await b.resolution.finalize())["resolved"] == 1
    assert "both again" in (await b.text("arch") or "")


async def test_without_conflicts_the_tools_say_so(a: Clone) -> None:
    assert await a.resolution.status() == {"status": "clean"}
    with pytest.raises(KnowledgeNotFound, match=r"^No pending conflicts$"):
        await a.resolution.detail(ARCH)
    with pytest.raises(KnowledgeNotFound, match="No pending conflicts to finalize"):
        await a.resolution.finalize()
    with pytest.raises(KnowledgeNotFound, match="No pending conflicts to abort"):
        await a.resolution.abort()


async def test_a_deleted_entry_that_the_other_side_changed(a: Clone, b: Clone) -> None:
    await a.put("arch", "base")
    await a.push()
    await b.pull()
    await a.drop("arch")
    await a.push()
    await b.put("arch", "changed")
    assert (await b.pull("agent"))["status"] == "conflicts"
    await b.resolution.resolve("knowledge/arch.md", "")
    await b.resolution.finalize()
    assert await b.texts() == {}


async def test_a_merge_by_an_agent_while_the_remote_changed_code(a: Clone, b: Clone) -> None:
    await a.put("arch", BASE)
    await a.push()
    await b.pull()
    a.code("new.py", "code")
    await a.put("arch", BASE.replace("\na\n", "\nfrom a\n"))
    await a.push()
    a.git("push", "-q", "origin", "main")
    await b.put("arch", BASE.replace("\na\n", "\nfrom b\n"))
    await b.pull("agent")
    await b.resolution.resolve(ARCH, BASE.replace("\na\n", "\nboth\n"))
    await b.resolution.finalize()
    assert not (b.root / "new.py").exists()
    assert (await b.pull()) == {"status": "up_to_date"}
    assert (await b.push())["status"] == "pushed"
    await a.pull()
    assert await a.text("arch") == BASE.replace("\na\n", "\nboth\n")
