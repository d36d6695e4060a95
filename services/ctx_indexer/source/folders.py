"""The folders of a workspace in which a file may appear, change or go; ignored ones are none."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ctx_core.confined_folder import ConfinedFolder, Entry
from ctx_core.git.run import git, git_line
from ctx_indexer.source.ignore import (
    CTXIGNORE,
    GITIGNORE,
    MAX_IGNORE_BYTES,
    TOOL_FOLDER_MARKERS,
    TOOL_FOLDERS,
    IgnoreRules,
)
from ctx_indexer.source.listing import ask_git, is_ignored, list_files, pathspecs, read_rules
from ctx_indexer.source.selection import Selection, folders_above

# Files whose change may change which files are listed, whatever is in them.
RULE_FILES = frozenset([GITIGNORE, CTXIGNORE, ".gitmodules", ".git", *TOOL_FOLDER_MARKERS])
# Of git's own folder: files that a switch of branches, an added file and local excludes change.
SHARED_FILES = frozenset(["config"])  # of all worktrees
GIT_FILES = frozenset(["HEAD", "index", *SHARED_FILES])
EXCLUDE_FOLDER, EXCLUDE_FILE = "info", "exclude"


class Folders(NamedTuple):
    """Folders, relative to the workspace ("" is itself); whether these are all.

    `closed` folders are kept out by a rule file of their own: without that file they belong again.
    """

    paths: set[str]
    closed: set[str]
    complete: bool


def list_folders(root: Path, limit: int, paths: Collection[str] | None = None) -> Folders:
    """List the folders that are not ignored, at most so many, or those at `paths` only. Blocks."""
    chosen = None if paths is None else Selection(paths)
    files = list_files(root, paths)
    holding = {above for file in files for above in folders_above(os.fsdecode(file))}
    ignored = _ignored_folders(root, chosen)
    found: set[str] = set()
    closed: set[str] = set()
    pending = [""]
    rules = IgnoreRules()
    with ConfinedFolder(root) as folder:
        while pending:
            inside = pending.pop()
            entries = _entries(folder, inside)
            if len(found) + len(closed) == limit:
                return Folders(found, closed, complete=False)
            is_open = _belongs(folder, inside, entries, holding)
            if chosen is None or chosen.leads_to(inside):
                (found if is_open else closed).add(inside)
            if not is_open:
                continue
            _read_folder_rules(rules, folder, inside, entries, with_git=ignored is not None)
            pending += [
                path
                for entry in entries
                if entry.is_folder
                and (path := f"{inside}/{entry.name}" if inside else entry.name)
                and (chosen is None or chosen.leads_to(path))
                and (path in holding or not _is_excluded(path, entry.name, ignored, rules))
            ]
    return Folders(found, closed, complete=True)


def rule_places(root: Path) -> dict[Path, frozenset[str]]:
    """Return the files outside of a workspace that rule it, by their folders. Blocks.

    They are git's own, some shared by worktrees, and the ignore files above the workspace.
    """
    top = git_line(root, "rev-parse", "--show-toplevel")
    if top is None:
        return {}
    above = [each for each in root.resolve().parents if each.is_relative_to(top)]
    places = dict.fromkeys(above, frozenset([GITIGNORE]))
    own = git_line(root, "rev-parse", "--absolute-git-dir")
    shared = git_line(root, "rev-parse", "--git-common-dir")
    if own is None or shared is None or is_ignored(root):
        return places
    common = (root / shared).resolve()
    return places | {
        common: SHARED_FILES,
        common / EXCLUDE_FOLDER: frozenset([EXCLUDE_FILE]),
        Path(own).resolve(): GIT_FILES,
    }


def _entries(folder: ConfinedFolder, inside: str) -> list[Entry]:
    try:
        return folder.entries(inside)
    except OSError:
        return []


def _belongs(
    folder: ConfinedFolder, inside: str, entries: Collection[Entry], holding: Collection[str]
) -> bool:
    """Whether a folder is no other repository, no tool's, and not excluded by its own file."""
    if not inside or inside in holding:
        return True
    names = {entry.name for entry in entries}
    if ".git" in names or not names.isdisjoint(TOOL_FOLDER_MARKERS):
        return False
    return GITIGNORE not in names or not _excludes_all(folder, f"{inside}/{GITIGNORE}")


def _excludes_all(folder: ConfinedFolder, path: str) -> bool:
    """Whether an ignore file says `*` and nothing else, as tools put it into their folders."""
    try:
        lines = folder.read(path, MAX_IGNORE_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")} == {"*"}


def _is_excluded(path: str, name: str, ignored: Collection[str] | None, rules: IgnoreRules) -> bool:
    return name in TOOL_FOLDERS or path in (ignored or ()) or rules.excludes(f"{path}/")


def _ignored_folders(root: Path, chosen: Selection | None) -> set[str] | None:
    """Return the folders that git ignores; None outside a work tree.

    git lists folders that hold nothing but ignored files too, so it is asked again for each; with
    a slash behind it, one that ignores all that lies in it would count.
    """
    listed = ask_git(root, "--others", "--ignored", "--directory", *pathspecs(chosen))
    if listed is None or is_ignored(root):
        return None
    folders = [entry[:-1] for entry in listed.split(b"\0") if entry.endswith(b"/")]
    if not folders:
        return set()
    said = git(root, "check-ignore", "-z", "--stdin", stdin=b"\0".join(folders)) or b""
    return {os.fsdecode(path) for path in said.split(b"\0") if path}


def _read_folder_rules(
    rules: IgnoreRules,
    folder: ConfinedFolder,
    inside: str,
    entries: Collection[Entry],
    *,
    with_git: bool,
) -> None:
    names = {entry.name for entry in entries}
    for name in (CTXIGNORE,) if with_git else (GITIGNORE, CTXIGNORE):
        if name in names:
            read_rules(rules, folder, f"{inside}/" if inside else "", name)
