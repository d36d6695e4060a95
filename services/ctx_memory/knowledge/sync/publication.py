"""The commit that a remote branch is moved to: knowledge alone, never unpublished code."""

from dataclasses import dataclass

from ctx_memory.knowledge.sync.history import History
from ctx_memory.knowledge.sync.integration import Divergence, Integration, describe, difference
from ctx_memory.knowledge.sync.remote import Remote
from ctx_memory.knowledge.sync.working_copy import committed_files


@dataclass(frozen=True)
class Publication:
    """A commit to push, and the local commit whose knowledge it has.

    `is_local`: both are the same commit. `descends`: the local history has the parent of the pushed
    commit.
    """

    commit: str
    local: str
    is_local: bool
    descends: bool


def prepare_publication(history: History, remote: Remote, theirs: str | None) -> Publication | None:
    """Make the commit to push; None if the remote has all of it. Blocks, raises GitFailed."""
    local = history.head()
    if local is None:
        return None
    if theirs is None:
        return _new_branch(history, remote, local)
    ours, known = committed_files(history, local, theirs)
    if ours == known:
        return None
    parted = Divergence(history, local, theirs)
    if parted.fork == theirs and not parted.local_changed_code:
        return Publication(local, local, is_local=True, descends=True)
    # Our commits go along only where they hold no code.
    parents = [theirs] if parted.local_changed_code else [theirs, local]
    commit = history.commit(parents, difference(known, ours), describe(known, ours))
    return Publication(commit, local, is_local=False, descends=parted.fork == theirs)


def finish_publication(work: Integration, done: Publication) -> None:
    """Record the pushed commit locally, so that later merges start from there."""
    if done.is_local:
        return
    head = work.history.head()
    if head is None or not work.history.is_ancestor(done.local, head):
        return  # the branch went elsewhere meanwhile
    if done.descends:
        work.record_merge(head, done.commit)
    else:
        work.remember(done.commit, done.local)


def _new_branch(history: History, remote: Remote, local: str) -> Publication:
    """Publish a branch that is new to the remote: it starts at the fork from a known branch."""
    fork = remote.fork_point(local)
    if fork is None or not history.changes_code(fork, local):
        return Publication(local, local, is_local=True, descends=True)
    known, ours = committed_files(history, fork, local)
    commit = history.commit([fork], difference(known, ours), describe(known, ours))
    return Publication(commit, local, is_local=False, descends=True)
