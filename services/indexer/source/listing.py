"""Lists the files of a workspace, with git or by walking the folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from services.core.git import git
from services.indexer.source.ignore import (
    CTXIGNORE,
    GITIGNORE,
    TOOL_FOLDER_MARKERS,
    TOOL_FOLDERS,
    IgnoreRules,
    in_tool_folder,
)

MAX_SUBMODULE_DEPTH = 4
_UNTRACKED = b"? "


def list_files(root: Path) -> set[bytes]:
    """List the files of a workspace that are not excluded, relative to it. Blocks."""
    listed = _git_files(root, 0)
    if listed is None:
        return set(_walk_folder(root))
    ignore = _ctxignore_rules(root, listed)
    return {path for path in listed if not (ignore.specs and _is_excluded(ignore, path))}


def _git_files(root: Path, depth: int) -> set[bytes] | None:
    """List tracked files and untracked ones that git does not ignore; None outside a work tree."""
    listed = git(root, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    if listed is None or (not listed and git(root, "check-ignore", "-q", ".") is not None):
        return None
    paths: set[bytes] = set()
    for entry in listed.split(b"\0"):
        path = entry[2:]
        if not path or path.endswith(b"/"):
            continue  # a repository inside this one, not a submodule
        if entry.startswith(_UNTRACKED) and in_tool_folder(os.fsdecode(path)):
            continue
        paths.add(path)
    for path in _submodules(root):
        paths.discard(path)
        inner = (
            _git_files(root / os.fsdecode(path), depth + 1) if depth < MAX_SUBMODULE_DEPTH else None
        )
        paths.update(path + b"/" + file for file in inner or ())
    return paths


def _submodules(root: Path) -> list[bytes]:
    """List the folders of the submodules."""
    listed = git(root, "ls-files", "-z", "--stage")
    entries = (listed or b"").split(b"\0")
    return [e.split(b"\t", 1)[1] for e in entries if e.startswith(b"160000 ")]


def _ctxignore_rules(root: Path, listed: set[bytes]) -> IgnoreRules:
    """Read every `.ctxignore` of the workspace, shallower folders first."""
    name = CTXIGNORE.encode()
    files = {path for path in listed if path == name or path.endswith(b"/" + name)} | {name}
    ignore = IgnoreRules()
    for path in sorted(files, key=lambda p: p.count(b"/")):
        file = os.fsdecode(path)
        ignore = _read_rules(ignore, root, file[: -len(CTXIGNORE)], CTXIGNORE)
    return ignore


def _read_rules(ignore: IgnoreRules, root: Path, folder: str, name: str) -> IgnoreRules:
    """Add the patterns of an ignore file; one that cannot be read adds none."""
    try:
        text = (root / folder / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ignore
    return ignore.with_file(folder, text.splitlines())


def _is_excluded(ignore: IgnoreRules, path: bytes) -> bool:
    """Whether a file or a folder above it is excluded."""
    parts = os.fsdecode(path).split("/")
    folders = ("/".join(parts[:n]) + "/" for n in range(1, len(parts)))
    return any(ignore.excludes(folder) for folder in folders) or ignore.excludes("/".join(parts))


def _walk_folder(root: Path) -> Iterator[bytes]:
    """List the files of a folder outside git; links to folders are not followed."""
    pending: list[tuple[str, IgnoreRules]] = [("", IgnoreRules())]
    while pending:
        folder, ignore = pending.pop()
        try:
            with os.scandir(root / folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if folder and not names.isdisjoint(TOOL_FOLDER_MARKERS):
            continue
        for name in (GITIGNORE, CTXIGNORE):
            ignore = _read_rules(ignore, root, folder, name) if name in names else ignore
        for entry in entries:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in TOOL_FOLDERS and not ignore.excludes(path + "/"):
                    pending.append((path + "/", ignore))
            elif not ignore.excludes(path):
                yield os.fsencode(path)
