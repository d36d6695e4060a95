"""Two clones and a bare remote: what one shares the other gets, and code is never touched."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from ctx_memory.knowledge.sync import remote
from scripts.bench.fixtures.clones import Clone, Clones, clone_at, committed, open_clones

SECTIONS = "intro\n\n## A\na\n\n## B\nb\n"


async def shared(a: Clone, b: Clone, key: str = "arch", text: str = SECTIONS) -> None:
    """Both clones have one entry."""
    await a.put(key, text)
    assert (await a.push())["status"] == "pushed"
    assert (await b.pull())["status"] == "pulled"


async def test_what_is_pushed_is_pulled(a: Clone, b: Clone) -> None:
    await a.put("arch", "# Architecture\n")
    pushed = await a.push()
    assert pushed["status"] == "pushed"
    assert pushed["commit_message"] == "ctx: update arch knowledge"
    assert a.git("rev-parse", "--short=7", "origin/main") == pushed["commit"]
    pulled = await b.pull()
    assert (pulled["status"], pulled["commits"]) == ("pulled", 1)
    assert await b.text("arch") == "# Architecture\n"
    assert (
        a.git("rev-parse", "HEAD")
        == b.git("rev-parse", "HEAD")
        == b.git("rev-parse", "origin/main")
    )
    assert a.status() == b.status() == []


async def test_nothing_to_do_is_said(a: Clone, b: Clone) -> None:
    assert await a.push() == {"status": "nothing_to_push"}
    assert await a.pull() == {"status": "up_to_date"}
    await shared(a, b)
    assert await b.push() == {"status": "nothing_to_push"}
    assert await b.pull() == {"status": "up_to_date"}
    assert not (a.root / ".context-teleport" / "state").exists()


async def test_nothing_is_made_before_the_first_write(a: Clone) -> None:
    await a.texts()
    await a.pull()
    assert not a.folder.exists()


async def test_without_a_remote_it_is_a_commit(a: Clone) -> None:
    a.git("remote", "remove", "origin")
    await a.put("arch", "text")
    done = await a.push()
    assert done == {
        "status": "committed",
        "commit": a.git("rev-parse", "--short=7", "HEAD"),
        "commit_message": "ctx: update arch knowledge",
    }
    assert (await a.pull()) == {"status": "no_remote", "error": "No remote configured"}


async def test_changes_of_both_sides_are_merged(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.put("arch", SECTIONS.replace("\na\n", "\nfrom a\n"))
    await a.push()
    await b.put("arch", SECTIONS.replace("\nb\n", "\nfrom b\n"))
    await b.put("other", "only b")
    pushed = await b.push()
    assert pushed["status"] == "pushed"
    assert pushed["auto_resolved"] == [".context-teleport/knowledge/arch.md"]
    await a.pull()
    assert await a.text("arch") == await b.text("arch") == "intro\n\n## A\nfrom a\n\n## B\nfrom b\n"
    assert await a.text("other") == "only b"
    assert a.status() == b.status() == []


async def test_a_pull_merges_what_is_not_committed_yet(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.put("arch", SECTIONS.replace("\na\n", "\nfrom a\n"))
    await a.push()
    await b.put("arch", SECTIONS.replace("\nb\n", "\nfrom b\n"))
    pulled = await b.pull()
    assert (pulled["status"], pulled["strategy"]) == ("merged", "section-auto")
    assert "from a" in (await b.text("arch") or "")
    assert "from b" in (await b.text("arch") or "")


async def test_a_conflict_on_push_is_rejected_and_loses_nothing(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.put("arch", SECTIONS.replace("\na\n", "\nfrom a\n"))
    await a.push()
    await b.put("arch", SECTIONS.replace("\na\n", "\nfrom b\n"))
    rejected = await b.push()
    assert rejected["status"] == "rejected"
    assert rejected["files"] == [".context-teleport/knowledge/arch.md"]
    assert "from b" in (await b.text("arch") or "")
    merged = await b.pull("theirs")
    assert (merged["status"], merged["strategy"], merged["resolved"]) == ("merged", "theirs", 1)
    assert "from a" in (await b.text("arch") or "")
    assert "from b" in b.git("log", "-p", "--all"), "what was ours is in the history"
    assert (await b.push())["status"] == "nothing_to_push"


async def test_ours_keeps_the_local_version(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.put("arch", SECTIONS.replace("\na\n", "\nfrom a\n").replace("\nb\n", "\nnew b\n"))
    await a.push()
    await b.put("arch", SECTIONS.replace("\na\n", "\nfrom b\n"))
    merged = await b.pull()
    assert merged["files"] == [".context-teleport/knowledge/arch.md"]
    assert await b.text("arch") == "intro\n\n## A\nfrom b\n\n## B\nnew b\n"


async def test_code_that_is_changed_staged_or_new_stays_as_it_is(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.put("arch", SECTIONS + "\n## New\nn\n")
    await a.push()
    b.repository.write("staged.py", "staged")
    b.git("add", "staged.py")
    b.repository.write("code.py", "changed")
    b.repository.write("untracked.py", "new")
    before = b.status()
    index = b.git("ls-files", "--stage", "--", "*.py")
    await b.put("mine", "m")
    assert (await b.push())["status"] == "pushed"
    assert "## New" in (await b.text("arch") or "")
    assert b.status() == before
    assert b.git("ls-files", "--stage", "--", "*.py") == index
    assert (b.root / "code.py").read_text() == "changed"


async def test_code_of_the_remote_stays_there(a: Clone, b: Clone) -> None:
    await shared(a, b)
    a.code("new.py", "new code")
    await a.put("arch", SECTIONS + "\n## New\nn\n")
    a.git("push", "-q", "origin", "main")
    assert (await a.push())["status"] == "pushed"
    assert (await b.pull())["status"] == "pulled"
    assert "## New" in (await b.text("arch") or "")
    assert not (b.root / "new.py").exists()
    assert b.status() == []
    await b.put("mine", "from b")
    assert (await b.push())["status"] == "pushed"
    assert "new code" in b.git("show", "origin/main:new.py")
    b.git("pull", "-q", "--no-rebase", "origin", "main")
    assert (b.root / "new.py").exists()
    assert b.status() == []
    await a.pull()
    assert await a.text("mine") == "from b"


async def test_code_that_is_not_pushed_is_not_published(a: Clone, b: Clone) -> None:
    await shared(a, b)
    b.code("secret.py", "unpublished")
    await b.put("mine", "from b")
    assert (await b.push())["status"] == "pushed"
    assert "secret.py" not in b.git("ls-tree", "-r", "--name-only", "origin/main")
    await a.pull()
    assert await a.text("mine") == "from b"
    b.git("push", "-q", "origin", "main")  # fast forward: the shared commit is in b's history
    assert "secret.py" in b.git("ls-tree", "-r", "--name-only", "origin/main")
    assert b.status() == []


async def test_both_sides_have_code_that_the_other_lacks(a: Clone, b: Clone) -> None:
    await shared(a, b)
    a.code("a.py", "a")
    a.git("push", "-q", "origin", "main")
    b.code("b.py", "b")
    for turn in range(3):
        await a.put(
            "arch",
            SECTIONS + f"\n## A{turn}\na{turn}\n" + (await a.text("arch") or "")[len(SECTIONS) :],
        )
        assert (await a.push())["status"] == "pushed"
        await b.put(f"b{turn}", f"from b {turn}")
        assert (await b.push())["status"] == "pushed"
        assert (await a.pull())["status"] == "pulled"
    assert await a.texts() == await b.texts()
    assert {"b0", "b1", "b2"} <= (await a.texts()).keys()
    assert not (b.root / "a.py").exists()
    assert "b.py" not in a.git("ls-tree", "-r", "--name-only", "origin/main")
    b.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert (b.root / "a.py").exists()
    assert await a.texts() == await b.texts()


async def test_a_branch_without_upstream(a: Clone, clones: Clones) -> None:
    a.git("checkout", "-q", "-b", "feature")
    a.code("feature.py", "unpublished")
    await a.put("arch", "on a branch")
    assert (await a.push())["status"] == "pushed"
    there = a.git("ls-tree", "-r", "--name-only", "origin/feature")
    assert "arch.md" in there
    assert "feature.py" not in there
    a.git("push", "-q", "origin", "feature")
    c = clones.clone("c")
    c.git("checkout", "-q", "feature")
    assert await c.text("arch") == "on a branch"
    await c.put("more", "m")
    await c.push()
    assert (await a.pull())["status"] == "pulled"
    assert await a.text("more") == "m"


async def test_a_detached_work_tree(a: Clone, b: Clone, clones: Clones) -> None:
    await shared(a, b)
    a.git("worktree", "add", "-q", "--detach", str(clones.remote.parent / "detached"))
    tree = clone_at(clones.remote.parent / "detached", clones.records)
    await tree.put("found", "in a detached work tree")
    assert (await tree.push())["status"] == "pushed"
    await b.pull()
    assert await b.text("found") == "in a detached work tree"
    await b.put("back", "from b")
    await b.push()
    assert (await tree.pull())["status"] == "pulled"
    assert await tree.text("back") == "from b"
    assert tree.status() == []
    assert a.status() == []


async def test_a_clone_that_wrote_before_its_first_pull(a: Clone, b: Clone) -> None:
    await a.put("arch", "from a")
    await a.push()
    await b.put("other", "from b")
    assert (await b.pull())["status"] in ("pulled", "merged")
    assert await b.texts() == {"arch": "from a", "other": "from b"}
    assert (await b.push())["status"] == "pushed"
    assert (await a.pull())["status"] == "pulled"
    assert committed(b.root)["manifest.json"] == committed(a.root)["manifest.json"]


async def test_a_removed_entry_is_removed_for_all(a: Clone, b: Clone) -> None:
    await shared(a, b)
    await a.drop("arch")
    await a.push()
    await b.pull()
    assert await b.texts() == {}
    assert not (b.folder / "knowledge" / "arch.md").exists()


async def test_an_empty_remote(area: Path) -> None:
    folder = area / "empty"
    folder.mkdir()
    async with open_clones(folder, with_code=False) as clones:
        a, b = clones.clone("a"), clones.clone("b")
        await a.put("arch", "first of all")
        assert (await a.push())["status"] == "pushed"
        assert (await b.pull())["status"] == "pulled"
        assert await b.text("arch") == "first of all"
        assert b.status() == []


async def test_edits_by_hand_are_pushed(a: Clone, b: Clone) -> None:
    await shared(a, b)
    (b.folder / "knowledge" / "arch.md").write_text("by hand")
    (b.folder / "knowledge" / "new.md").write_text("new by hand")
    await b.push()
    await a.pull()
    assert await a.texts() == {"arch": "by hand", "new": "new by hand"}


async def test_what_belongs_to_one_machine_is_not_pushed(a: Clone, b: Clone) -> None:
    await shared(a, b)
    for name in ("state/active.json", "preferences/user.json"):
        path = a.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    assert await a.push() == {"status": "nothing_to_push"}
    assert a.status() == []


async def test_pushes_at_once_are_merged_and_tried_again(a: Clone, b: Clone) -> None:
    for number in range(3):
        await a.put(f"a-{number}", "text")
        await b.put(f"b-{number}", "text")
        answers = await asyncio.gather(a.push(), b.push())
        assert [answer["status"] for answer in answers] == ["pushed", "pushed"]
    await a.pull()
    await b.pull()
    names = [f"{who}-{number}" for who in "ab" for number in range(3)]
    assert sorted(await a.texts()) == sorted(await b.texts()) == names


@pytest.mark.parametrize("age_seconds", [86_400, 0, -86_400], ids=["old", "new", "ahead"])
async def test_a_lock_that_a_loss_of_power_left_stops_nothing(
    a: Clone, b: Clone, monkeypatch: pytest.MonkeyPatch, age_seconds: float
) -> None:
    monkeypatch.setattr(remote, "STALE_LOCK_SECONDS", 0.3)
    await shared(a, b)
    lock = lock_tracking_branch(b)
    then = time.time() - age_seconds
    os.utime(lock, (then, then))
    await a.put("arch", "changed")
    await a.push()
    assert (await b.pull())["status"] == "pulled"
    assert await b.text("arch") == "changed"
    assert not lock.exists()


async def test_a_lock_that_git_holds_is_waited_for(a: Clone, b: Clone) -> None:
    await shared(a, b)
    lock = lock_tracking_branch(b)
    await a.put("arch", "changed")
    await a.push()
    pulling = asyncio.create_task(b.pull())
    await asyncio.sleep(0.3)
    assert lock.exists()
    assert not pulling.done()
    lock.unlink()  # as git does when it is done
    assert (await pulling)["status"] == "pulled"


def lock_tracking_branch(clone: Clone) -> Path:
    lock = clone.root / ".git" / "refs" / "remotes" / "origin" / "main.lock"
    lock.touch()
    return lock
