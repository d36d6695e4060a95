"""Which files a workspace has: asked from git, or found by walking the folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from services.core.git import git
from services.indexer.source.ignore import (
    CTXIGNORE,
    FOLDER_MARKS,
    GITIGNORE,
    UNWANTED_FOLDERS,
    Ignore,
    is_unwanted,
)

MAX_SUBMODULE_DEPTH = 4
_UNTRACKED = b"? "


def listing(root: Path) -> set[bytes]:
    """The paths of the files of a workspace, as bytes, relative to it."""
    listed = _git_files(root, 0)
    if listed is None:
        return set(_walked(root))
    ignore = _ctxignore(root, listed)
    return {path for path in listed if not (ignore.rules and _excluded(ignore, path))}


def _git_files(root: Path, depth: int) -> set[bytes] | None:
    """Tracked and untracked files that are not ignored; None where git does not answer for it."""
    listed = git(root, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    if listed is None or (not listed and git(root, "check-ignore", "-q", ".") is not None):
        return None
    found: set[bytes] = set()
    for entry in listed.split(b"\0"):
        path = entry[2:]
        if not path or path.endswith(b"/"):
            continue  # a repository that lies inside this one
        if entry.startswith(_UNTRACKED) and is_unwanted(os.fsdecode(path)):
            continue
        found.add(path)
    for path in _submodules(root):
        found.discard(path)
        inner = (
            _git_files(root / os.fsdecode(path), depth + 1) if depth < MAX_SUBMODULE_DEPTH else None
        )
        found.update(path + b"/" + file for file in inner or ())
    return found


def _submodules(root: Path) -> list[bytes]:
    """The tracked folders that are repositories of their own."""
    listed = git(root, "ls-files", "-z", "--stage")
    entries = (listed or b"").split(b"\0")
    return [e.split(b"\t", 1)[1] for e in entries if e.startswith(b"160000 ")]


def _ctxignore(root: Path, listed: set[bytes]) -> Ignore:
    """The rules of every `.ctxignore` of the workspace, shallower folders first."""
    name = CTXIGNORE.encode()
    files = {path for path in listed if path == name or path.endswith(b"/" + name)} | {name}
    ignore = Ignore()
    for path in sorted(files, key=lambda p: p.count(b"/")):
        file = os.fsdecode(path)
        ignore = _with_file(ignore, root, file[: -len(CTXIGNORE)], CTXIGNORE)
    return ignore


def _with_file(ignore: Ignore, root: Path, folder: str, name: str) -> Ignore:
    try:
        text = (root / folder / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ignore
    return ignore.plus(folder, text.splitlines())


def _excluded(ignore: Ignore, path: bytes) -> bool:
    """Whether a file, or a folder above it, is left out: what lies in one stays out."""
    parts = os.fsdecode(path).split("/")
    folders = ("/".join(parts[:n]) + "/" for n in range(1, len(parts)))
    return any(ignore.excludes(folder) for folder in folders) or ignore.excludes("/".join(parts))


def _walked(root: Path) -> Iterator[bytes]:
    """The files of a folder outside git. Links to folders are not followed."""
    waiting: list[tuple[str, Ignore]] = [("", Ignore())]
    while waiting:
        folder, ignore = waiting.pop()
        try:
            with os.scandir(root / folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if folder and not names.isdisjoint(FOLDER_MARKS):
            continue
        for name in (GITIGNORE, CTXIGNORE):
            ignore = _with_file(ignore, root, folder, name) if name in names else ignore
        for entry in entries:
            path = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in UNWANTED_FOLDERS and not ignore.excludes(path + "/"):
                    waiting.append((path + "/", ignore))
            elif not ignore.excludes(path):
                yield os.fsencode(path)
