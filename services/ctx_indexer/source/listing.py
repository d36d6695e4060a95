"""Lists the files of a workspace, with git or by walking the folder."""

import logging
import os
import stat
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from pathlib import Path

from ctx_core.confined_folder import ConfinedFolder, Entry
from ctx_core.errors import GitFailed, GitTimedOut
from ctx_core.git.run import git, run_git
from ctx_indexer.source.ignore import (
    CTXIGNORE,
    GITIGNORE,
    MAX_IGNORE_BYTES,
    TOOL_FOLDER_MARKERS,
    TOOL_FOLDERS,
    IgnoreRules,
    in_tool_folder,
)
from ctx_indexer.source.selection import Selection, folders_above

log = logging.getLogger(__name__)

MAX_SUBMODULE_DEPTH = 4
LISTING_SECONDS = 60.0  # git lists a million files in a few
# Then it is looked whether git waits for a pipe; where it does not, it is asked once more.
PROMPT_SECONDS = 5.0
MAX_PATHSPECS = 200  # git compares each with every file: beyond, listing all takes less
_UNTRACKED = b"?"
_SUBMODULE = b"160000"  # git's mode of a folder that is another repository


def list_files(root: Path, paths: Collection[str] | None = None) -> set[bytes]:
    """List the files of a workspace that are not excluded, relative to it. Blocks.

    `paths` narrows the list to these files and to all that lies in these folders.
    """
    chosen = None if paths is None else Selection(paths)
    with ConfinedFolder(root) as folder:
        asked = chosen if chosen is None or _is_narrow(folder, chosen) else None
        listed = _git_files(folder, "", 0, asked)
        if listed is None:
            return set(_walk_folder(folder, chosen))
        ignore = _ctxignore_rules(folder, listed)
    return {
        path
        for path in listed
        if not (ignore and _is_excluded(ignore, path))
        and (chosen is None or chosen.holds(os.fsdecode(path)))
    }


def _is_narrow(folder: ConfinedFolder, chosen: Selection) -> bool:
    """Whether git is asked for these paths alone: they are few, and in no repository inside."""
    inside = {above for path in chosen.paths for above in (path, *folders_above(path)) if above}
    return len(chosen.paths) <= MAX_PATHSPECS and not any(
        folder.has_folder(place) and _has_entry(folder, f"{place}/.git") for place in inside
    )


def _has_entry(folder: ConfinedFolder, path: str) -> bool:
    try:
        folder.status(path)
    except OSError:
        return False
    return True


def _git_files(
    folder: ConfinedFolder, inside: str, depth: int, chosen: Selection | None = None
) -> set[bytes] | None:
    """List tracked files and untracked ones that git does not ignore; None outside a work tree."""
    root = folder.root / inside
    listed = ask_git(root, "-t", "--stage", "--cached", "--others", *pathspecs(chosen))
    if listed is None or (not listed and is_ignored(root)):
        return None
    paths: set[bytes] = set()
    for entry in listed.split(b"\0"):
        tag, _, rest = entry.partition(b" ")
        stage, _, path = (b"", b"", rest) if tag == _UNTRACKED else rest.partition(b"\t")
        if not path or path.endswith(b"/"):
            continue  # a repository inside this one, not a submodule
        if stage.startswith(_SUBMODULE):
            files = _submodule_files(folder, inside, path, depth)
            paths.update(path + b"/" + file for file in files)
        elif stage or not in_tool_folder(os.fsdecode(path)):
            paths.add(path)
    return paths


def pathspecs(chosen: Selection | None) -> list[str]:
    """Return git's arguments for a selection, with the ignore files that rule it."""
    if chosen is None or "" in chosen.paths:
        return []
    folders = {above for path in chosen.paths for above in folders_above(path)}
    wanted = {*chosen.paths, CTXIGNORE, *(f"{above}/{CTXIGNORE}" for above in folders)}
    return ["--", *(f":(literal){path}" for path in sorted(wanted))]


def is_ignored(root: Path) -> bool:
    """Whether a folder inside a repository is ignored by it; a repository itself never is."""
    return not (root / ".git").exists() and git(root, "check-ignore", "-q", ".") is not None


def ask_git(root: Path, *options: str) -> bytes | None:
    """List with git; None where it fails, or waits for a pipe that is called `.gitignore`."""
    arguments = ("ls-files", "-z", "--exclude-standard", *options)
    try:
        return _ask_promptly(root, arguments)
    except GitFailed as error:
        if (root / ".git").exists():
            log.warning("%s is listed without git: %s", root, error)
        return None


def _ask_promptly(root: Path, arguments: Sequence[str]) -> bytes:
    try:
        return run_git(root, *arguments, seconds=PROMPT_SECONDS)
    except GitTimedOut:
        if endless := _endless_rules(root):
            raise GitFailed(f"{endless} is not a regular file.") from None
    return run_git(root, *arguments, seconds=LISTING_SECONDS)


def _endless_rules(root: Path) -> str | None:
    """Return an ignore file in any folder that is a pipe or a device, which git would wait for."""
    pending = [""]
    with ConfinedFolder(root) as folder:
        while pending:
            inside = pending.pop()
            for entry in _entries(folder, inside):
                if entry.is_folder and entry.name != ".git":
                    pending.append(f"{inside}{entry.name}/")
                elif entry.name == GITIGNORE and _is_special(folder, f"{inside}{GITIGNORE}"):
                    return f"{inside}{GITIGNORE}"
    return None


def _is_special(folder: ConfinedFolder, path: str) -> bool:
    """Whether an entry is neither a file nor a folder nor a link, which git does not follow."""
    try:
        mode = folder.status(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _entries(folder: ConfinedFolder, inside: str) -> list[Entry]:
    try:
        return folder.entries(inside.removesuffix("/"))
    except OSError:
        return []


def _submodule_files(
    folder: ConfinedFolder, inside: str, path: bytes, depth: int
) -> Iterable[bytes]:
    """List the files of a submodule; none where its folder is missing, or a link to elsewhere."""
    place = f"{inside}{os.fsdecode(path)}"
    if depth >= MAX_SUBMODULE_DEPTH or not folder.has_folder(place):
        return ()
    return _git_files(folder, f"{place}/", depth + 1) or ()


def _ctxignore_rules(folder: ConfinedFolder, listed: set[bytes]) -> IgnoreRules:
    """Read every `.ctxignore` of the workspace."""
    name = CTXIGNORE.encode()
    ignore = IgnoreRules()
    for path in {path for path in listed if path == name or path.endswith(b"/" + name)} | {name}:
        read_rules(ignore, folder, os.fsdecode(path)[: -len(CTXIGNORE)], CTXIGNORE)
    return ignore


def read_rules(ignore: IgnoreRules, folder: ConfinedFolder, inside: str, name: str) -> None:
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


def _walk_folder(folder: ConfinedFolder, chosen: Selection | None = None) -> Iterator[bytes]:
    """List the files of a folder outside git; links to folders are not followed."""
    pending = [""]
    ignore = IgnoreRules()
    while pending:
        inside = pending.pop()
        entries = _entries(folder, inside)
        names = {entry.name for entry in entries}
        if inside and not names.isdisjoint(TOOL_FOLDER_MARKERS):
            continue
        _read_folder_rules(ignore, folder, inside, names)
        for entry in entries:
            path = inside + entry.name
            if chosen and not (chosen.leads_to if entry.is_folder else chosen.holds)(path):
                continue
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
            read_rules(ignore, folder, inside, name)
