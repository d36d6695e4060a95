"""Lists the files of a workspace, with git or by walking the folder."""

import logging
import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from services.core.confined_folder import ConfinedFolder
from services.core.errors import GitFailed
from services.core.git import git, run_git
from services.indexer.source.ignore import (
    CTXIGNORE,
    GITIGNORE,
    MAX_IGNORE_BYTES,
    TOOL_FOLDER_MARKERS,
    TOOL_FOLDERS,
    IgnoreRules,
    in_tool_folder,
)

log = logging.getLogger(__name__)

MAX_SUBMODULE_DEPTH = 4
LISTING_SECONDS = 60.0  # git lists a million files in a few
_UNTRACKED = b"? "


def list_files(root: Path) -> set[bytes]:
    """List the files of a workspace that are not excluded, relative to it. Blocks."""
    with ConfinedFolder(root) as folder:
        listed = _git_files(folder, "", 0)
        if listed is None:
            return set(_walk_folder(folder))
        ignore = _ctxignore_rules(folder, listed)
    return {path for path in listed if not (ignore and _is_excluded(ignore, path))}


def _git_files(folder: ConfinedFolder, inside: str, depth: int) -> set[bytes] | None:
    """List tracked files and untracked ones that git does not ignore; None outside a work tree."""
    root = folder.root / inside
    listed = _ask_git(root, "-t", "--cached", "--others", "--exclude-standard")
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
        paths.update(path + b"/" + file for file in _submodule_files(folder, inside, path, depth))
    return paths


def _ask_git(root: Path, *options: str) -> bytes | None:
    """List with git; None where it fails, or waits for a pipe that is called `.gitignore`."""
    try:
        return run_git(root, "ls-files", "-z", *options, seconds=LISTING_SECONDS)
    except GitFailed as error:
        if (root / ".git").exists():
            log.warning("%s is listed without git: %s", root, error)
        return None


def _submodule_files(
    folder: ConfinedFolder, inside: str, path: bytes, depth: int
) -> Iterable[bytes]:
    """List the files of a submodule; none where its folder is missing, or a link to elsewhere."""
    place = f"{inside}{os.fsdecode(path)}"
    if depth >= MAX_SUBMODULE_DEPTH or not folder.has_folder(place):
        return ()
    return _git_files(folder, f"{place}/", depth + 1) or ()


def _submodules(root: Path) -> list[bytes]:
    """List the folders of the submodules."""
    listed = _ask_git(root, "--stage")
    entries = (listed or b"").split(b"\0")
    return [e.split(b"\t", 1)[1] for e in entries if e.startswith(b"160000 ")]


def _ctxignore_rules(folder: ConfinedFolder, listed: set[bytes]) -> IgnoreRules:
    """Read every `.ctxignore` of the workspace."""
    name = CTXIGNORE.encode()
    ignore = IgnoreRules()
    for path in {path for path in listed if path == name or path.endswith(b"/" + name)} | {name}:
        _read_rules(ignore, folder, os.fsdecode(path)[: -len(CTXIGNORE)], CTXIGNORE)
    return ignore


def _read_rules(ignore: IgnoreRules, folder: ConfinedFolder, inside: str, name: str) -> None:
    """Add the patterns of an ignore file; one that cannot be read adds none."""
    try:
        content = folder.read(inside + name, MAX_IGNORE_BYTES + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("%s%s is not used: %s", inside, name, error)
        return
    if len(content) > MAX_IGNORE_BYTES:
        log.warning("%s%s is not used: larger than %d bytes", inside, name, MAX_IGNORE_BYTES)
        return
    ignore.add_file(inside, content.decode("utf-8", "replace").splitlines())


def _is_excluded(ignore: IgnoreRules, path: bytes) -> bool:
    """Whether a file or a folder above it is excluded."""
    parts = os.fsdecode(path).split("/")
    folders = ("/".join(parts[:n]) + "/" for n in range(1, len(parts)))
    return any(ignore.excludes(folder) for folder in folders) or ignore.excludes("/".join(parts))


def _walk_folder(folder: ConfinedFolder) -> Iterator[bytes]:
    """List the files of a folder outside git; links to folders are not followed."""
    pending = [""]
    ignore = IgnoreRules()
    while pending:
        inside = pending.pop()
        try:
            entries = folder.entries(inside.removesuffix("/"))
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if inside and not names.isdisjoint(TOOL_FOLDER_MARKERS):
            continue
        _read_folder_rules(ignore, folder, inside, names)
        for entry in entries:
            path = inside + entry.name
            if entry.is_folder:
                if entry.name not in TOOL_FOLDERS and not ignore.excludes(path + "/"):
                    pending.append(path + "/")
            elif not ignore.excludes(path):
                yield os.fsencode(path)


def _read_folder_rules(
    ignore: IgnoreRules, folder: ConfinedFolder, inside: str, names: Container[str]
) -> None:
    for name in (GITIGNORE, CTXIGNORE):
        if name in names:
            _read_rules(ignore, folder, inside, name)
