"""Hostile repositories and remotes: nothing of theirs runs, is followed or is leaked."""

import os
import subprocess
from pathlib import Path

import pytest

from ctx_core.errors import GitFailed, KnowledgeRefused
from ctx_memory.knowledge.entry import EntryType, Scope
from scripts.bench.fixtures.clones import Clone, Clones, committed, every_object
from tests.support.repositories import Repository

PRIVATE = "Zq7-private-words-that-nobody-else-uses"


def programs(clone: Clone, marker: Path) -> None:
    """Every program that a configuration may name leaves the marker."""
    script = clone.root.parent / "program"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    script.chmod(0o755)
    for name in (
        "pre-commit",
        "post-commit",
        "pre-push",
        "reference-transaction",
        "post-index-change",
    ):
        hook = clone.root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(script)
    settings = {
        "core.fsmonitor": str(script),
        "filter.evil.clean": str(script),
        "filter.evil.smudge": str(script),
        "filter.evil.process": str(script),
        "diff.evil.textconv": str(script),
        "diff.external": str(script),
        "merge.evil.driver": str(script),
        "gpg.program": str(script),
        "commit.gpgSign": "true",
        "core.sshCommand": str(script),
        "credential.helper": str(script),
        "remote.origin.uploadpack": f"{script}; git-upload-pack",
        "remote.origin.receivepack": f"{script}; git-receive-pack",
    }
    for key, value in settings.items():
        clone.git("config", key, value)
    (clone.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")


async def test_no_program_of_the_repository_is_run(a: Clone, b: Clone, area: Path) -> None:
    marker = area / "it-ran"
    await a.put("arch", "## A\na\n")
    await a.push()
    await b.pull()
    programs(b, marker)
    marker.unlink(missing_ok=True)
    await a.put("arch", "## A\na\n\n## New\nn\n")
    await a.push()
    await b.put("arch", "## A\nfrom b\n")
    assert (await b.push())["status"] == "pushed"
    await b.pull()
    assert not marker.exists()
    assert "## New" in (await b.text("arch") or "")


async def test_a_remote_inside_the_project_is_refused(a: Clone) -> None:
    evil = a.root / "evil.git"
    a.git("init", "-q", "--bare", str(evil))
    hook = evil / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {a.root}/it-ran\n")
    hook.chmod(0o755)
    await a.put("arch", "text")
    for url in ("./evil.git", str(evil), f"file://{evil}"):
        a.git("remote", "set-url", "origin", url)
        with pytest.raises(KnowledgeRefused, match="lies in the project itself"):
            await a.push()
    assert not (a.root / "it-ran").exists()


@pytest.mark.parametrize("url", ["https://me:hunter2@127.0.0.1:1/x.git", "ssh://me@127.0.0.1:1/x"])
async def test_errors_hold_no_credentials_and_no_address(a: Clone, url: str) -> None:
    a.git("remote", "set-url", "origin", url)
    await a.put("arch", "text")
    answer = await a.push()
    assert answer["status"] == "committed"
    assert "hunter2" not in str(answer)
    assert "://" not in answer["push_error"]
    again = await a.push()
    assert again["status"] == "committed", "there is something to push"
    assert again["push_error"]
    with pytest.raises(GitFailed) as failed:
        await a.pull()
    assert "hunter2" not in failed.value.message
    assert "://" not in failed.value.message


async def test_a_push_that_the_remote_declines_is_rejected(a: Clone, clones: Clones) -> None:
    hook = clones.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'policy: no' >&2\nexit 1\n")
    hook.chmod(0o755)
    await a.put("arch", "text")
    answer = await a.push()
    assert answer["status"] == "rejected"
    assert "rejected" in answer["push_error"]
    hook.unlink()
    assert (await a.push())["status"] == "pushed"


def commit_tree(repository: Repository, entries: dict[str, tuple[str, str]]) -> None:
    """Commit paths that a careful person would not: mode, then content or the target of a link."""
    lines = []
    for path, (mode, content) in entries.items():
        blob = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=repository.root, input=content,
            text=True, check=True, capture_output=True,
        ).stdout.strip()  # fmt: skip
        lines.append(f"{mode} {blob}\t{path}")
    subprocess.run(
        ["git", "update-index", "--add", "--index-info"], cwd=repository.root,
        input="\n".join(lines) + "\n", text=True, check=True,
    )  # fmt: skip
    repository.git("commit", "-q", "-m", "hostile")
    repository.git("push", "-q", "origin", "main")


async def test_links_and_hostile_names_never_reach_the_disk(a: Clone, b: Clone, area: Path) -> None:
    await a.put("arch", "text")
    await a.push()
    await b.pull()
    outside = area / "outside"
    outside.mkdir()
    (outside / "loot.md").write_text("loot")
    commit_tree(
        a.repository,
        {
            ".context-teleport/knowledge/link.md": ("120000", str(outside / "loot.md")),
            ".context-teleport/conventions": ("120000", str(outside)),
            ".context-teleport/knowledge/new.md": ("100644", "harmless"),
            ".context-teleport/knowledge/a\\b.md": ("100644", "backslash"),
            ".context-teleport/knowledge/tab\tname.md": ("100644", "tab"),
        },
    )
    assert (await b.pull())["status"] == "pulled"
    assert await b.texts() == {"arch": "text", "new": "harmless"}
    assert not (b.folder / "knowledge" / "link.md").is_symlink()
    assert not (b.folder / "conventions").exists()
    await b.put("mine", "m")
    assert (await b.push())["status"] == "pushed"
    assert "link.md" in b.git("ls-tree", "-r", "--name-only", "origin/main")
    assert (outside / "loot.md").read_text() == "loot"


async def test_links_in_the_work_tree_are_not_followed(a: Clone, area: Path) -> None:
    outside = area / "outside"
    outside.mkdir()
    (outside / "loot.md").write_text("loot")
    a.folder.mkdir()
    (a.folder / "knowledge").symlink_to(outside)
    assert await a.texts() == {}
    with pytest.raises(KnowledgeRefused, match="not a folder"):
        await a.put("loot", "overwritten")
    (a.folder / "knowledge").unlink()
    (a.folder / "knowledge").mkdir()
    (a.folder / "knowledge" / "loot.md").symlink_to(outside / "loot.md")
    os.mkfifo(a.folder / "knowledge" / "pipe.md")
    assert await a.texts() == {}
    with pytest.raises(KnowledgeRefused, match="not a regular file"):
        await a.put("loot", "overwritten")
    assert (outside / "loot.md").read_text() == "loot"
    assert b"loot\n" not in every_object(a.root)


async def test_a_folder_that_is_a_link_is_no_store(a: Clone, area: Path) -> None:
    outside = area / "outside"
    (outside / "knowledge").mkdir(parents=True)
    (outside / "knowledge" / "x.md").write_text("loot")
    a.folder.symlink_to(outside)
    assert await a.texts() == {}
    with pytest.raises(KnowledgeRefused):
        await a.put("y", "text")
    assert await a.push() == {"status": "nothing_to_push"}
    assert sorted(path.name for path in outside.rglob("*")) == ["knowledge", "x.md"]


async def test_a_remote_whose_store_is_a_link_is_refused(a: Clone, b: Clone) -> None:
    await b.put("arch", "text")
    commit_tree(a.repository, {".context-teleport": ("120000", "/etc")})
    answer = await b.push()
    assert answer["status"] == "committed"
    assert "is not a folder" in answer["push_error"]
    assert await b.text("arch") == "text"


@pytest.mark.parametrize("name", ["MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD"])
async def test_an_operation_under_way_is_not_disturbed(a: Clone, name: str) -> None:
    await a.put("arch", "text")
    path = a.root / ".git" / name
    path.write_text(a.git("rev-parse", "HEAD")) if name.isupper() else path.mkdir()
    with pytest.raises(GitFailed, match=f"under way in this repository \\({name}\\)"):
        await a.push()
    path.unlink() if name.isupper() else path.rmdir()
    assert (await a.push())["status"] == "pushed"


async def test_no_private_byte_reaches_git_or_the_work_tree(a: Clone, b: Clone) -> None:
    """Entries that are private from the start, or become it before they are committed."""
    await b.put("shared", "public text")
    await a.put("born-private", PRIVATE, Scope.PRIVATE)
    await a.put("born-ephemeral", PRIVATE, Scope.EPHEMERAL)
    await a.put("0001-quiet", f"# 0001 - {PRIVATE}\n", Scope.PRIVATE, EntryType.DECISION)
    await a.put("moved", PRIVATE)
    await a.store.set_scope(EntryType.KNOWLEDGE, "moved", Scope.PRIVATE)
    await a.put("skill", PRIVATE, Scope.PRIVATE, EntryType.SKILL)
    await a.put("public", "public text of a")
    for clone in (a, b, a):
        assert (await clone.push())["status"] in ("pushed", "nothing_to_push")
        await clone.pull()
    await a.put("born-private", f"{PRIVATE} again", Scope.PRIVATE)
    await a.push()
    words = PRIVATE.encode()
    for root in (a.root, b.root, a.store.project.root):
        assert words not in every_object(root)
    remote = a.root.parent / "remote.git"
    assert words not in every_object(remote)
    for root in (a.root, b.root, remote):
        for path in root.rglob("*"):
            assert path.is_symlink() or not path.is_file() or words not in path.read_bytes(), path
            assert "born" not in path.name
            assert "moved" not in path.name
    assert set(await a.texts()) == {"shared", "born-private", "born-ephemeral", "moved", "public"}


async def test_a_file_left_by_a_crash_while_it_became_private_is_not_pushed(a: Clone) -> None:
    """The record is written first, the file deleted then: between them lies a crash."""
    await a.put("plan", PRIVATE, Scope.PRIVATE)
    (a.folder / "knowledge").mkdir(parents=True)
    (a.folder / "knowledge" / "plan.md").write_text(PRIVATE)
    await a.put("other", "public")
    await a.push()
    assert "plan.md" not in str(sorted(committed(a.root)))
    assert PRIVATE.encode() not in every_object(a.root)


async def test_a_secret_that_a_person_typed_is_not_pushed(a: Clone) -> None:
    await a.put("arch", "text")
    await a.push()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    (a.folder / "knowledge" / "arch.md").write_text(f"text\n\ntoken: {token}\n")
    with pytest.raises(KnowledgeRefused, match=r"knowledge/arch\.md:3 looks like a secret"):
        await a.push()
    assert token.encode() not in every_object(a.root)


async def test_ignored_files_are_not_pushed(a: Clone) -> None:
    await a.put("arch", "text")
    (a.folder / "knowledge" / "draft.md").write_text("not yet")
    with (a.folder / ".gitignore").open("a") as file:
        file.write("knowledge/draft.md\n")
    await a.push()
    assert "knowledge/draft.md" not in committed(a.root)
    assert await a.text("draft") == "not yet"
