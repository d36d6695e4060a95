"""Bundles and instruction files: what is taken, merged and refused."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ctx_core.errors import InvalidInput, KnowledgeRefused
from ctx_memory.knowledge.decisions import all_decisions, record_decision
from ctx_memory.knowledge.documents import Decision
from ctx_memory.knowledge.entry import EntryType, Scope
from ctx_memory.knowledge.exchange import bundle
from ctx_memory.knowledge.exchange.bundle import export_bundle, import_bundle
from ctx_memory.knowledge.exchange.instructions import propose_entries
from ctx_memory.knowledge.skills import add_skill, find_skill, rate_skill
from scripts.bench.fixtures.clones import Clone, Clones

HEAD = json.dumps({"format": 1}).encode()
SECRET_TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes], head: bytes = HEAD) -> Path:
    """Write an archive with a valid head and these members."""
    with tarfile.open(path, "w:gz") as made:
        for member, content in [(tarfile.TarInfo("bundle.json"), head), *members]:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


def member(name: str, content: bytes = b"text", kind: bytes = tarfile.REGTYPE, link: str = ""):  # type: ignore[no-untyped-def]
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made, content if kind == tarfile.REGTYPE else b""


async def fill(clone: Clone) -> None:
    await clone.put("arch", "# Arch\n\n## Queue\n\nOne worker.\n")
    await clone.put("git", "No force-push.", entry_type=EntryType.CONVENTION)
    await clone.put("mine", "private words", Scope.PRIVATE)
    await clone.put("now", "ephemeral words", Scope.EPHEMERAL)
    await record_decision(clone.store, Decision(0, "Use SQLite"))
    await add_skill(clone.store, "deploy", "d", "Do it.")
    await rate_skill(clone.store, "deploy", 4, "good", "mcp:test")


async def test_a_bundle_holds_public_entries_and_no_others(a: Clone, area: Path) -> None:
    await fill(a)
    file = area / "team.ctxbundle"
    count = await export_bundle(a.store, file, with_private=False)
    unpacked = gzip.decompress(file.read_bytes())
    assert b"private words" not in unpacked
    assert b"ephemeral words" not in unpacked
    with tarfile.open(file) as made:
        names = made.getnames()
    assert len(names) == count + 1
    assert names[0] == "bundle.json"
    assert "knowledge/decisions/0001-use-sqlite.md" in names
    assert "skills/deploy/.feedback.ndjson" in names
    assert not {"manifest.json", "state/active.json", ".gitignore"} & set(names)


async def test_a_bundle_is_merged_into_another_project(a: Clone, b: Clone, area: Path) -> None:
    await fill(a)
    await b.put("arch", "# Arch\n\n## Limits\n\nTen a second.\n")
    await record_decision(b.store, Decision(0, "Use PostgreSQL"))
    file = area / "team.ctxbundle"
    await export_bundle(a.store, file, with_private=False)
    report = await import_bundle(b.store, file)
    merged = await b.text("arch") or ""
    assert "Ten a second." in merged
    assert "One worker." in merged
    assert await b.text("git", EntryType.CONVENTION) == "No force-push."
    titles = {each.decision.number: each.decision.title for each in await all_decisions(b.store)}
    assert titles == {1: "Use PostgreSQL", 2: "Use SQLite"}
    assert report.renumbered == [{"from": "0001-use-sqlite.md", "to": "0002-use-sqlite.md"}]
    assert len((await find_skill(b.store, "deploy")).events["feedback"]) == 1
    before = {path: (b.folder / path).read_bytes() for path in b.store.project.folder.files()}
    again = await import_bundle(b.store, file)
    assert (again.added, again.changed, again.renumbered) == ([], [], [])
    after = {path: (b.folder / path).read_bytes() for path in b.store.project.folder.files()}
    assert after == before


@pytest.mark.parametrize(("replace", "text"), [(False, "Ours."), (True, "Theirs.")])
async def test_where_both_have_a_text_ours_stays_unless_asked(
    a: Clone, b: Clone, area: Path, replace: bool, text: str
) -> None:
    await a.put("arch", "Theirs.")
    await b.put("arch", "Ours.")
    await export_bundle(a.store, area / "x.ctxbundle", with_private=False)
    report = await import_bundle(b.store, area / "x.ctxbundle", replace=replace)
    assert (await b.text("arch") or "").rstrip() == text
    assert report.changed == (["knowledge/arch.md"] if replace else [])
    assert report.kept == ([] if replace else ["knowledge/arch.md"])


async def test_private_entries_go_along_when_asked_and_never_into_the_project(
    a: Clone, clones: Clones, area: Path
) -> None:
    await fill(a)
    await add_skill(a.store, "hidden", "d", "Do it.", "private")
    await rate_skill(a.store, "hidden", 2, "bad", "mcp:test")
    with pytest.raises(KnowledgeRefused, match="must not lie in the project"):
        await export_bundle(a.store, a.root / "all.ctxbundle", with_private=True)
    assert not (a.root / "all.ctxbundle").exists()
    file = area / "all.ctxbundle"
    await export_bundle(a.store, file, with_private=True)
    assert file.stat().st_mode & 0o077 == 0
    other = clones.clone("other")
    report = await import_bundle(other.store, file)
    assert sorted(report.private) == ["knowledge/mine.md", "skills/hidden/SKILL.md"]
    entry = await other.store.get(EntryType.KNOWLEDGE, "mine")
    assert entry is not None
    assert entry.scope is Scope.PRIVATE
    assert len((await find_skill(other.store, "hidden")).events["feedback"]) == 1
    on_disk = b"".join(p.read_bytes() for p in other.folder.rglob("*") if p.is_file())
    assert b"private words" not in on_disk
    assert b"ephemeral words" not in gzip.decompress(file.read_bytes())


@pytest.mark.parametrize(
    "hostile",
    [
        member("../evil.md"),
        member("knowledge/../../evil.md"),
        member("/etc/evil.md"),
        member("knowledge/link.md", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("knowledge/hard.md", kind=tarfile.LNKTYPE, link="bundle.json"),
        member("knowledge/pipe.md", kind=tarfile.FIFOTYPE),
        member("knowledge/device.md", kind=tarfile.CHRTYPE),
        member("knowledge/.git/config"),
        member("manifest.json"),
        member("state/active.json"),
        member(".gitignore"),
        member("knowledge/.scope.json", b'{"arch.md": "private"}'),
        member("knowledge/a\\b.md"),
        member("private/../knowledge/x.md"),
        member("private/manifest.json"),
    ],
    ids=lambda each: each[0].name,
)
async def test_what_a_bundle_must_not_hold_is_refused_and_nothing_is_written(
    a: Clone, area: Path, hostile: tuple[tarfile.TarInfo, bytes]
) -> None:
    file = archive(area / "x.ctxbundle", member("knowledge/good.md"), hostile)
    with pytest.raises(KnowledgeRefused, match="Refused"):
        await import_bundle(a.store, file)
    assert not a.folder.exists()
    assert not (area / "evil.md").exists()


async def test_a_secret_in_a_bundle_is_refused_whole(a: Clone, area: Path) -> None:
    leak = member("knowledge/leak.md", f"token {SECRET_TOKEN}".encode())
    file = archive(area / "x.ctxbundle", member("knowledge/good.md"), leak)
    with pytest.raises(KnowledgeRefused, match=r"knowledge/leak\.md:1 looks like a secret"):
        await import_bundle(a.store, file)
    assert not a.folder.exists()


def zeros(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(66):
            file.write(bytes(1024 * 1024))


def many(path: Path) -> None:
    archive(path, *(member(f"knowledge/{n}.md", b"") for n in range(6)))


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"no archive"),
        lambda path: path.write_bytes(gzip.compress(b"no tar")),
        lambda path: archive(path, head=b"{}"),
        lambda path: archive(path, head=b"not json"),
        zeros,
        many,
    ],
)
async def test_files_that_are_no_bundles_are_refused(
    a: Clone, area: Path, make: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "MAX_FILES", 5)
    make(area / "x.ctxbundle")
    with pytest.raises(KnowledgeRefused):
        await import_bundle(a.store, area / "x.ctxbundle")
    with pytest.raises(InvalidInput):
        await import_bundle(a.store, area / "missing")
    assert not a.folder.exists()


async def test_a_bundle_does_not_overwrite_a_private_file_of_another_program(
    a: Clone, area: Path
) -> None:
    a.repository.write(".context-teleport/knowledge/own.md", "theirs alone")
    a.repository.write(".context-teleport/knowledge/.scope.json", '{"own.md": "private"}')
    file = archive(area / "x.ctxbundle", member("knowledge/own.md", b"of the bundle"))
    report = await import_bundle(a.store, file, replace=True)
    assert report.kept == ["knowledge/own.md"]
    assert (a.folder / "knowledge/own.md").read_text() == "theirs alone"


async def test_sections_of_an_instruction_file(a: Clone, area: Path) -> None:
    await a.put("known", "text", entry_type=EntryType.CONVENTION)
    file = area / "AGENTS.md"
    file.write_text(
        "# Project\n\n## Known\n\nx\n\n## Build & Test\n\n```\n## no heading\n```\n\n"
        "## Build & Test\n\ny\n\n## Empty\n\n## !!!\n\nsigns\n\n## Token\n\n"
        f"{SECRET_TOKEN}\n\n<!-- ctx:start -->\n## Managed\n\nz\n<!-- ctx:end -->\n"
    )
    proposed = await propose_entries(a.store, file, EntryType.CONVENTION)
    assert [each.key for each in proposed] == [
        "known", "build-test", "build-test-2", "section", "token"
    ]  # fmt: skip
    problems = {each.key: each.problem for each in proposed if each.problem}
    assert problems["known"] == "known exists already"
    assert "looks like a secret" in problems["token"]
    assert "## no heading" in proposed[1].content
    with pytest.raises(InvalidInput):
        await propose_entries(a.store, area / "missing.md", EntryType.CONVENTION)
