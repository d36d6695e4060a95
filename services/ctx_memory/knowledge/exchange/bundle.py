"""Bundles: a project's knowledge in one archive, which another project can merge into its own."""

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput, KnowledgeRefused, StorageFailed
from ctx_core.files import replace_file
from ctx_memory.knowledge.documents import dump_json, parse_object, renumber_decision
from ctx_memory.knowledge.entries import put_entry
from ctx_memory.knowledge.entry import EntryType, KnowledgeEntry, Scope
from ctx_memory.knowledge.folder import MAX_FILE_BYTES, is_safe_path
from ctx_memory.knowledge.manifest import now
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import Tree, decision_number, merge_trees
from ctx_memory.knowledge.public import SCOPES, entry_of, entry_path
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret

HEAD = "bundle.json"
FORMAT = 1
PRIVATE = "private/"
EVENTS = ".events.json"  # feedback and proposals of a private skill
SHARED_FOLDERS = ("knowledge/", "conventions/", "skills/", "history/", "preferences/", "state/")
LEFT_OUT = ("state/active.json", "preferences/user.json")  # of one machine
MAX_BYTES = 64 * 1024 * 1024  # unpacked; a store of this size is no knowledge
MAX_FILES = 20_000


@dataclass
class BundleReport:
    """The paths that importing a bundle changed, and the paths that it left as they were."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    renumbered: list[dict[str, str]] = field(default_factory=list)
    private: list[str] = field(default_factory=list)


async def export_bundle(store: KnowledgeStore, target: Path, *, with_private: bool) -> int:
    """Write a bundle; return how many files it holds.

    Raises StorageFailed, or KnowledgeRefused if private entries would come to lie in the project.
    """
    place = await DISK.run(target.resolve)
    if with_private and place.is_relative_to(store.project.root):
        raise KnowledgeRefused(
            "Refused: a bundle with private entries must not lie in the project, where git could "
            "take it. Name a file outside."
        )
    files = await DISK.run(_public_files, store, await store.hidden_paths())
    if with_private:
        files |= await _private_files(store)
    head = {"format": FORMAT, "project": store.project.name, "created_at": now()}
    packed = _pack({HEAD: dump_json(head).encode(), **files})
    try:
        await DISK.run(replace_file, target, packed)
        if with_private:
            await DISK.run(target.chmod, 0o600)
    except OSError as error:
        raise StorageFailed(f"{target.name} cannot be written: {error.strerror}") from error
    return len(files)


async def import_bundle(
    store: KnowledgeStore, source: Path, *, replace: bool = False
) -> BundleReport:
    """Merge a bundle into the project: new entries, new sections, records that are not there yet.

    Where both have another text, ours stays unless `replace` is set. Raises KnowledgeRefused for an
    archive that is hostile or holds a secret; then nothing is changed.
    """
    files = await DISK.run(_unpack, source)
    private = {path: files.pop(path) for path in list(files) if path.startswith(PRIVATE)}
    for path, content in files.items():
        refuse_secret(content.decode("utf-8", "replace"), path)

    async def work() -> BundleReport:
        report = BundleReport()
        hidden = await store.hidden_paths()
        if files:
            await store.prepare_folder()
            prefer = Side.THEIRS if replace else Side.OURS
            await DISK.run(_merge, store, files, prefer, hidden, report)
        await _add_private(store, private, replace=replace, report=report)
        return report

    return await store.write(work)


def _public_files(store: KnowledgeStore, hidden: set[str]) -> dict[str, bytes]:
    folder = store.project.folder
    folders = tuple(path for path in hidden if path.endswith("/"))
    found = {
        path: folder.read_bytes(path)
        for path in folder.files()
        if _is_shared(path) and path not in hidden and not path.startswith(folders)
    }
    return {path: content for path, content in found.items() if content is not None}


def _is_shared(path: str) -> bool:
    return (
        path.startswith(SHARED_FOLDERS)
        and path not in LEFT_OUT
        and path.rpartition("/")[2] != SCOPES
        and is_safe_path(path)
    )


async def _private_files(store: KnowledgeStore) -> dict[str, bytes]:
    files = {}
    for entry_type in EntryType:
        for entry in await store.all(entry_type):
            if entry.scope is not Scope.PRIVATE:
                continue
            path = f"{PRIVATE}{entry_path(entry_type, entry.key)}"
            files[path] = entry.content.encode()
            if entry.events:
                events = dump_json(dict(entry.events)).encode()
                files[f"{path.rpartition('/')[0]}/{EVENTS}"] = events
    return files


# --- the archive -----------------------------------------------------------------------------


def _pack(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, content in sorted(files.items(), key=lambda each: (each[0] != HEAD, each[0])):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _unpack(source: Path) -> dict[str, bytes]:
    """Read an archive into memory; raises KnowledgeRefused for one that is no bundle. Blocks."""
    try:
        with gzip.open(source) as stream:
            unpacked = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise InvalidInput("file", f"{source} does not exist") from error
    except (OSError, EOFError, zlib.error) as error:
        raise KnowledgeRefused(f"{source.name} is not a bundle") from error
    if len(unpacked) > MAX_BYTES:
        raise KnowledgeRefused(f"Refused: {source.name} holds more than {MAX_BYTES} bytes")
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
            for member in archive:
                if member.isdir() and is_safe_path(member.name):
                    continue
                path = _checked_path(member, len(files))
                files[path] = _content(archive, member)
    except (tarfile.TarError, ValueError) as error:
        raise KnowledgeRefused(f"{source.name} is not a bundle") from error
    if parse_object(files.pop(HEAD, b"").decode("utf-8", "replace")).get("format") != FORMAT:
        raise KnowledgeRefused(f"{source.name} is not a bundle of format {FORMAT}")
    return files


def _checked_path(member: tarfile.TarInfo, count: int) -> str:
    name = member.name
    if not member.isreg():
        raise KnowledgeRefused(f"Refused: {name!r} in the bundle is not a regular file")
    if not is_safe_path(name):
        raise KnowledgeRefused(f"Refused: {name!r} in the bundle leads out of it, or is unsafe")
    if name != HEAD and not _is_shared(name.removeprefix(PRIVATE)):
        raise KnowledgeRefused(f"Refused: {name!r} has no place in a knowledge folder")
    if count >= MAX_FILES or member.size > MAX_FILE_BYTES:
        raise KnowledgeRefused(f"Refused: {name!r} in the bundle is one too many, or too large")
    return name


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    with archive.extractfile(member) or io.BytesIO() as file:
        return file.read()


# --- merging ---------------------------------------------------------------------------------


def _merge(
    store: KnowledgeStore,
    files: Mapping[str, bytes],
    prefer: Side,
    hidden: set[str],
    report: BundleReport,
) -> None:
    """Merge public files into the folder, as a pull without a common ancestor. Blocks."""
    folder = store.project.folder
    ours = _public_files(store, hidden)
    report.kept += [path for path in files if path in hidden]
    new = _without_known_decisions(ours, {p: c for p, c in files.items() if p not in hidden})
    # Ours keep their numbers: merges leave a number to the side called theirs.
    merged = merge_trees({}, new, ours, Side.OURS if prefer is Side.THEIRS else Side.THEIRS)
    for path, content in merged.files.items():
        if path not in ours:
            report.added.append(path)
        elif content.rstrip() != ours[path].rstrip():
            report.changed.append(path)
        else:
            continue
        folder.write(path, content)
    report.kept += [] if prefer is Side.THEIRS else [each.path for each in merged.conflicts]
    report.renumbered += [
        {"from": each.old.rpartition("/")[2], "to": each.new.rpartition("/")[2]}
        for each in merged.renumbered
    ]


def _without_known_decisions(ours: Tree, files: Tree) -> dict[str, bytes]:
    """The files without decisions that ours have under another number."""
    known = {renumber_decision(content, 0) for path, content in ours.items() if _is_decision(path)}
    return {
        path: content
        for path, content in files.items()
        if not (_is_decision(path) and path not in ours and renumber_decision(content, 0) in known)
    }


def _is_decision(path: str) -> bool:
    return decision_number(path) is not None


async def _add_private(
    store: KnowledgeStore, files: Mapping[str, bytes], *, replace: bool, report: BundleReport
) -> None:
    for path, content in files.items():
        if (found := entry_of(path.removeprefix(PRIVATE))) is None:
            continue
        entry_type, key = found
        existing = await store.get(entry_type, key)
        text = content.decode("utf-8", "replace")
        if existing is not None and existing.content == text:
            continue
        if existing is not None and (not replace or existing.scope is Scope.PUBLIC):
            report.kept.append(path)
            continue
        events = _events(files.get(f"{path.rpartition('/')[0]}/{EVENTS}"))
        await put_entry(store, KnowledgeEntry(entry_type, key, text, Scope.PRIVATE, events=events))
        report.private.append(path.removeprefix(PRIVATE))


def _events(content: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(content or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
