"""Bring the local branch and a remote one together, in the knowledge folder alone.

Code is never touched, so a commit may only be a merge of both histories where the other side
changed no code since they parted. Else the result is a plain commit on our side, and a reference
of ours remembers up to where the remote is merged.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from ctx_core.errors import GitFailed
from ctx_memory.knowledge.entry import EntryType
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import MergedTree, Tree, merge_trees
from ctx_memory.knowledge.public import entry_of
from ctx_memory.knowledge.sync.history import History
from ctx_memory.knowledge.sync.working_copy import WorkingCopy, committed_files

SYNCED = "synced"  # its first parent is merged into its second, a commit of ours
APPLYING, APPLYING_FROM = "applying", "applying-from"  # a change of the work tree under way
IN_PROGRESS = (
    "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"
)  # fmt: skip


@dataclass(frozen=True)
class Divergence:
    """A local and a remote commit: where they parted, and whether either changed code since."""

    history: History
    local: str | None
    remote: str

    @cached_property
    def fork(self) -> str | None:
        return self.history.merge_base(self.local, self.remote) if self.local else None

    @cached_property
    def is_merged(self) -> bool:
        """Whether the local history has the remote commit, so that nothing is to be merged."""
        return self.remote in (self.fork, self.base)

    @cached_property
    def can_forward(self) -> bool:
        """Whether the local branch may become the remote one without touching code."""
        if self.local is None:
            return not self.history.has_code(self.remote)
        return self.fork == self.local and not self.remote_changed_code

    @cached_property
    def remote_changed_code(self) -> bool:
        return self.fork is None or self.history.changes_code(self.fork, self.remote)

    @cached_property
    def local_changed_code(self) -> bool:
        if self.fork is None or self.local is None:
            return True
        return self.history.changes_code(self.fork, self.local)

    @cached_property
    def base(self) -> str | None:
        """The remote commit up to which the local folder has everything."""
        synced = self.history.resolve(self.history.ref(SYNCED))
        if synced is None or self.local is None:
            return self.fork
        merged, ours = f"{synced}^1", f"{synced}^2"
        is_valid = self.history.is_ancestor(merged, self.remote) and self.history.is_ancestor(
            ours, self.local
        )
        if not is_valid or (self.fork and self.history.is_ancestor(merged, self.fork)):
            return self.fork
        return self.history.resolve(merged)


class Integration:
    """Commits, merges and applies under the project's lock. Every method blocks."""

    def __init__(self, history: History, copy: WorkingCopy) -> None:
        self.history = history
        self.copy = copy

    def check_ready(self) -> None:
        """Raise GitFailed while the user is in the middle of a merge, a rebase or the like."""
        folder = self.history.repository.git_dir
        if under_way := [name for name in IN_PROGRESS if (folder / name).exists()]:
            raise GitFailed(
                f"A git operation is under way in this repository ({under_way[0]}). Finish or "
                "abort it, then try again."
            )

    def recover(self) -> None:
        """Finish a change of the work tree that a crash interrupted."""
        new = self.history.resolve(self.history.ref(APPLYING))
        if new is None:
            return
        start = self.history.resolve(self.history.ref(APPLYING_FROM))
        head = self.history.head()
        is_left = (
            head is None if start is None else head in (start, self.history.resolve(f"{start}^"))
        )
        if is_left and head != new:
            before, after = committed_files(self.history, start, new)
            self._finish(head, new, before, after, "ctx: finish an interrupted sync")
        self.history.set_refs({APPLYING: None, APPLYING_FROM: None})

    def local_files(self) -> tuple[str | None, Tree, Tree]:
        """HEAD, its files, and the folder's files as they are now."""
        head = self.history.head()
        [committed] = committed_files(self.history, head)
        return head, committed, self.copy.files(committed)

    def commit_local(
        self, message: str, check: Callable[[Tree, Tree], None] = lambda before, after: None
    ) -> str | None:
        """Commit the changes of the folder; return the new commit, None without changes."""
        head, committed, files = self.local_files()
        changes = difference(committed, files)
        if not changes:
            return None
        check(committed, files)
        text = message or describe(committed, files)
        new = self.history.commit([head] if head else [], changes, text)
        # The index first: if HEAD moved alone, the user's next commit would undo it.
        self.history.update_index(head, new)
        self.history.move_head(new, head, text)
        return new

    def merge(self, parted: Divergence, ours: Tree, prefer: Side) -> MergedTree:
        """Merge the remote's files into ours; changes nothing."""
        base, theirs = committed_files(self.history, parted.base, parted.remote)
        return merge_trees(base, ours, theirs, prefer)

    def adopt(self, parted: Divergence, ours: Tree, merged: Tree, text: str) -> str:
        """Make merged files ours: a commit, the work tree, the index, the branch; the new HEAD.

        `ours` are the folder's files as they are now, committed or not.
        """
        local = parted.local
        committed, theirs = committed_files(self.history, local, parted.remote)
        if parted.can_forward and merged == theirs:
            return self._advance(local, parted.remote, committed, ours, merged, text)
        if local is None:
            raise GitFailed("This clone has no commits yet: run `git pull` once, then sync.")
        parents = [local] if parted.remote_changed_code else [local, parted.remote]
        changes = difference(committed, merged)
        new = local
        if changes or len(parents) > 1:
            made = self.history.commit(parents, changes, text)
            new = self._advance(local, made, committed, ours, merged, text)
        if parted.remote_changed_code:
            self.remember(parted.remote, new)
        return new

    def record_merge(self, local: str, published: str) -> None:
        """Make a published commit with our files an ancestor of the local branch."""
        text = "ctx: merge what was shared"
        self.history.move_head(self.history.commit([local, published], {}, text), local, text)

    def remember(self, remote: str, local: str) -> None:
        """Note that a remote commit is merged into a local one that does not descend from it."""
        made = self.history.commit([remote, local], {}, "ctx: merged")
        self.history.set_refs({SYNCED: made})

    def _advance(
        self, old: str | None, new: str, committed: Tree, ours: Tree, merged: Tree, text: str
    ) -> str:
        """Go on to a new commit. Noted before the first file changes, so that a crash is mended."""
        start = old
        if uncommitted := difference(committed, ours):
            start = self.history.commit([old] if old else [], uncommitted, "ctx: before a merge")
        self.history.set_refs({APPLYING: new, APPLYING_FROM: start})
        self._finish(old, new, ours, merged, text)
        self.history.set_refs({APPLYING: None, APPLYING_FROM: None})
        return new

    def _finish(self, old: str | None, new: str, before: Tree, after: Tree, text: str) -> None:
        self.copy.apply(before, after)
        self.history.update_index(old, new)
        self.history.move_head(new, old, text)


def difference(before: Tree, after: Tree) -> dict[str, bytes | None]:
    """Files that differ between two sets, with their new content; None where a file goes."""
    return {
        path: after.get(path)
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


MAX_NAMES = 3  # of one type, so that a message stays one line


def describe(before: Tree, after: Tree) -> str:
    """One line about the difference between two versions of a knowledge folder."""
    named: dict[tuple[str, EntryType], list[str]] = defaultdict(list)
    for path in sorted({*before, *after}):
        entry = entry_of(path)
        if entry is None or before.get(path) == after.get(path):
            continue
        entry_type, key = entry
        named[_verb(entry_type, path, before, after), entry_type].append(_name(entry_type, key))
    parts = [_part(verb, entry_type, keys) for (verb, entry_type), keys in named.items()]
    if before.get("history/sessions.ndjson") != after.get("history/sessions.ndjson"):
        parts.append("add session")
    return f"ctx: {', '.join(parts) or 'update context'}"


def _verb(entry_type: EntryType, path: str, before: Tree, after: Tree) -> str:
    if path not in after:
        return "remove"
    return "add" if entry_type is EntryType.DECISION and path not in before else "update"


def _name(entry_type: EntryType, key: str) -> str:
    return key.partition("-")[0] if entry_type is EntryType.DECISION else key


def _part(verb: str, entry_type: EntryType, keys: Iterable[str]) -> str:
    names = list(keys)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    listed = f"{', '.join(names[:MAX_NAMES])}{more}"
    if entry_type is EntryType.DECISION:
        return f"{verb} decision {listed}"
    return f"{verb} {listed} {entry_type.value}"
