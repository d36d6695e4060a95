"""The tools for git in repositories as people have them: changed code, odd branches, refusals."""

from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

from scripts.bench.fixtures.clones import every_object
from scripts.bench.fixtures.repositories import Repository
from tests.contract.knowledge.conftest import Tools

pytestmark = pytest.mark.asyncio(loop_scope="module")

HIDDEN = "lighthouse-7431"


async def add(tools: Tools, key: str, content: str = "text", **more: str) -> None:
    await tools.call("context_add_knowledge", key=key, content=content, **more)


def published(tools: Tools, branch: str = "main") -> str:
    tools.repository.git("fetch", "-q", "origin")
    return tools.repository.git("ls-tree", "-r", "--name-only", f"origin/{branch}")


async def test_changed_and_staged_code_stays_while_the_remote_has_other_code(
    clones: tuple[Tools, Tools],
) -> None:
    one, two = clones
    one.repository.write("new.py", "new\n")
    one.repository.commit("code of one")
    one.repository.git("push", "-q", "origin", "main")
    await add(one, "of-one")
    await one.call("context_sync_push")
    two.repository.write("code.py", "changed\n")
    two.repository.write("staged.py", "staged\n")
    two.repository.git("add", "staged.py")
    before = two.repository.git("status", "--porcelain")
    await add(two, "of-two")
    assert (await two.call("context_sync_pull"))["status"] in ("pulled", "merged")
    assert (await two.call("context_sync_push"))["status"] == "pushed"
    assert two.repository.git("status", "--porcelain") == before
    assert not (two.root / "new.py").exists()
    assert {
        ".context-teleport/knowledge/of-one.md",
        ".context-teleport/knowledge/of-two.md",
    } <= set(published(two).splitlines())
    assert "staged.py" not in published(two)


async def test_a_branch_without_upstream_is_shared_by_its_name(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    one.repository.git("checkout", "-q", "-b", "topic")
    await add(one, "topical")
    assert (await one.call("context_sync_push"))["status"] == "pushed"
    assert "topical.md" in published(one, "topic")
    assert "topical.md" not in published(one)
    two.repository.git("checkout", "-q", "-b", "topic")
    assert (await two.call("context_sync_pull"))["status"] == "pulled"
    assert await two.call("context_get", dotpath="knowledge.topical") == "text"


async def test_a_detached_work_tree_is_shared_by_the_default_branch(
    clones: tuple[Tools, Tools], client: Client[Any]
) -> None:
    one, two = clones
    root = one.root.parent / "tree"
    one.repository.git("worktree", "add", "-q", "--detach", str(root))
    tree = Tools(client, Repository(root))
    await add(tree, "detached")
    assert (await tree.call("context_sync_push"))["status"] == "pushed"
    assert "detached.md" in published(two)
    assert (await two.call("context_sync_pull"))["status"] == "pulled"
    assert not (one.root / ".context-teleport").exists()


async def test_a_push_that_the_remote_refuses_is_rejected_and_loses_nothing(
    clones: tuple[Tools, Tools],
) -> None:
    one, _ = clones
    hook = one.root.parent / "remote.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho closed >&2\nexit 1\n")
    hook.chmod(0o755)
    await add(one, "refused")
    answer = await one.call("context_sync_push")
    assert answer["status"] == "rejected"
    assert answer["push_error"]
    assert "refused.md" in one.repository.git("ls-tree", "-r", "--name-only", "HEAD")
    hook.unlink()
    assert (await one.call("context_sync_push"))["status"] == "pushed"


async def test_no_private_byte_reaches_git_or_the_work_tree(clones: tuple[Tools, Tools]) -> None:
    one, two = clones
    for scope in ("private", "ephemeral"):
        await add(one, f"own-{scope}", f"{HIDDEN} {scope}", scope=scope)
        for name, arguments in {
            "context_add_convention": {"key": f"own-{scope}", "content": HIDDEN},
            "context_record_decision": {"title": f"Own {scope}", "decision": HIDDEN},
            "context_add_skill": {
                "name": f"own-{scope}", "description": HIDDEN, "instructions": HIDDEN
            },
        }.items():  # fmt: skip
            await one.call(name, **arguments, scope=scope)
        await one.call("context_rate_skill", skill_name=f"own-{scope}", rating=1, comment=HIDDEN)
    await add(one, "shared")
    await one.call("context_search", query=HIDDEN)
    assert (await one.call("context_sync_push"))["status"] == "pushed"
    await two.call("context_sync_pull")
    await add(two, "more")
    await two.call("context_sync_push")
    await one.call("context_sync_pull")
    assert await one.call("context_get", dotpath="knowledge.own-private") == f"{HIDDEN} private"
    for root in (one.root, two.root, one.root.parent / "remote.git"):
        assert HIDDEN.encode() not in every_object(root)
        assert files_with(root, HIDDEN) == []


def files_with(root: Path, text: str) -> list[str]:
    """Every file that holds a text, git's own ones too."""
    return [
        str(path)
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
async def test_a_lock_that_a_crashed_git_left_is_named_and_everything_works_without_it(
    clones: tuple[Tools, Tools], name: str
) -> None:
    one, two = clones
    one.repository.write("code.py", "code\n")
    one.repository.commit("code")
    one.repository.git("push", "-q", "origin", "main")
    lock = one.root / ".git" / name
    lock.touch()
    await add(one, "while-locked")
    error = await one.refused("context_sync_push")
    assert error.startswith(f".git/{name} is in the way")
    assert "delete that file" in error
    assert str(one.root) not in error
    assert lock.exists()  # it is the user's: another git may be running
    lock.unlink()
    assert (await one.call("context_sync_push"))["status"] == "pushed"
    assert one.repository.git("status", "--porcelain") == ""
    assert (await two.call("context_sync_pull"))["status"] == "pulled"
    assert await two.call("context_get", dotpath="knowledge.while-locked") == "text"
