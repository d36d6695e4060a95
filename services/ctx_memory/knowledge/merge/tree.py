"""Merge three versions of a whole knowledge folder, file by file."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ctx_memory.knowledge.documents import parse_decision, renumber_decision
from ctx_memory.knowledge.merge.fields import Merged, Side, merge_json, merge_ndjson
from ctx_memory.knowledge.merge.markdown import merge_markdown

Tree = Mapping[str, bytes]
"""The files of a knowledge folder: path in it → content."""

DECISIONS = "knowledge/decisions/"
_DECISION_NAME = re.compile(r"(\d+)-(.*\.md)")
# Files that the program itself keeps about entries: a difference there is no question for a person.
BOOKKEEPING = frozenset({"manifest.json", ".meta.json", ".scope.json"})
WHOLE_FILE = "Whole-file conflict: both sides changed it differently"
OURS_DELETED = "Whole-file conflict: deleted by ours but modified by theirs"
THEIRS_DELETED = "Whole-file conflict: deleted by theirs but modified by ours"


@dataclass(frozen=True)
class FileConflict:
    """A file that both sides changed in the same place."""

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Renumbering:
    """A decision that got another number because the other side had taken its own."""

    old: str
    new: str


@dataclass
class MergedTree:
    """The merged files; in those with a conflict the preferred side's version stands."""

    files: dict[str, bytes] = field(default_factory=dict)
    conflicts: list[FileConflict] = field(default_factory=list)
    auto_resolved: list[str] = field(default_factory=list)
    renumbered: list[Renumbering] = field(default_factory=list)


def merge_trees(base: Tree, ours: Tree, theirs: Tree, prefer: Side = Side.OURS) -> MergedTree:
    """Merge file by file. Decisions of both sides with one number are both kept."""
    merged = MergedTree()
    mine = _without_twins(base, ours, theirs, merged.renumbered)
    for path in sorted({*base, *mine, *theirs}):
        content = _merge_file(
            path, base.get(path), mine.get(path), theirs.get(path), prefer, merged
        )
        if content is not None:
            merged.files[path] = content
    _renumber_clashes(merged, base, theirs)
    return merged


def merge_file(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, prefer: Side = Side.OURS
) -> Merged | None:
    """Merge one file that both sides changed; None if its format cannot be merged."""
    name = PurePosixPath(path).name
    try:
        texts = (None if base is None else base.decode(), ours.decode(), theirs.decode())
        if name.endswith(".md"):
            return merge_markdown(*texts, prefer)
        if name.endswith(".ndjson"):
            return merge_ndjson(*texts, prefer)
        if name in BOOKKEEPING:
            return Merged(merge_json(*texts, Side.THEIRS).text)
        if name.endswith(".json"):
            return merge_json(*texts, prefer)
        if name == ".gitignore":
            return _merge_lines(*texts)
    except ValueError:  # not UTF-8, or not JSON
        return None
    return None


def _merge_file(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    prefer: Side,
    merged: MergedTree,
) -> bytes | None:
    """The merged content, None if the file is gone; `merged` notes how a difference was decided."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    messages: tuple[str, ...] = (WHOLE_FILE,)
    result = prefer.of(ours, theirs)
    if ours is None or theirs is None:
        messages = (OURS_DELETED if ours is None else THEIRS_DELETED,)
    elif done := merge_file(path, base, ours, theirs, prefer):
        messages, result = done.conflicts, done.text.encode()
    if messages:
        merged.conflicts.append(FileConflict(path, base, ours, theirs, messages))
    elif PurePosixPath(path).name not in BOOKKEEPING:
        merged.auto_resolved.append(path)
    return result


def _merge_lines(base: str | None, ours: str, theirs: str) -> Merged:
    """Lines as a set, in the order of ours."""
    before, mine, other = ((text or "").splitlines() for text in (base, ours, theirs))
    kept = [line for line in mine if line in other or line not in before]
    added = [line for line in other if line not in before and line not in kept]
    return Merged("".join(f"{line}\n" for line in [*kept, *added]))


# --- decisions of one number ---------------------------------------------------------------


def decision_number(path: str) -> int | None:
    """The number in the name of a decision's file; None for every other path."""
    name = path.removeprefix(DECISIONS)
    found = _DECISION_NAME.fullmatch(name) if path.startswith(DECISIONS) else None
    return int(found[1]) if found and "/" not in name else None


def _without_twins(
    base: Tree, ours: Tree, theirs: Tree, renumbered: list[Renumbering]
) -> dict[str, bytes]:
    """Ours, where a new decision with the number and title of another of theirs has moved on."""
    result = dict(ours)
    for path, content in ours.items():
        is_new = decision_number(path) is not None and path not in base
        if is_new and theirs.get(path, content) != content:
            _renumber(result, path, _free_number(base, result, theirs), renumbered)
    return result


def _renumber_clashes(merged: MergedTree, base: Tree, theirs: Tree) -> None:
    """Leave each number to one decision: the one that was shared first, then the older one."""
    holders: dict[int, list[str]] = defaultdict(list)
    for path in merged.files:
        if (number := decision_number(path)) is not None:
            holders[number].append(path)
    for paths in holders.values():
        paths.sort(
            key=lambda path: (path not in theirs, path not in base, _date(merged, path), path)
        )
        for path in paths[1:]:
            fresh = _free_number(merged.files, theirs)
            _renumber(merged.files, path, fresh, merged.renumbered)


def _date(merged: MergedTree, path: str) -> str:
    return parse_decision(merged.files[path].decode("utf-8", "replace")).date


def _free_number(*trees: Tree) -> int:
    return 1 + max(decision_number(path) or 0 for tree in trees for path in tree)


def _renumber(
    files: dict[str, bytes], path: str, number: int, renumbered: list[Renumbering]
) -> None:
    slug = path.removeprefix(DECISIONS).partition("-")[2]
    new = f"{DECISIONS}{number:04d}-{slug}"
    files[new] = renumber_decision(files.pop(path), number)
    renumbered.append(Renumbering(path, new))
