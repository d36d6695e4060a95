"""Share a project's knowledge by git: push and pull."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from ctx_core.blocking import GIT
from ctx_core.errors import GitFailed, KnowledgeRefused
from ctx_memory.knowledge.decisions import renumber_private
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import MergedTree, Tree
from ctx_memory.knowledge.repository import Repository
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret
from ctx_memory.knowledge.sync.conflicts import (
    PendingMerge,
    pending_files,
    read_pending,
    write_pending,
)
from ctx_memory.knowledge.sync.history import History
from ctx_memory.knowledge.sync.integration import Divergence, Integration
from ctx_memory.knowledge.sync.publication import finish_publication, prepare_publication
from ctx_memory.knowledge.sync.remote import PushRejected, Remote, find_remote
from ctx_memory.knowledge.sync.working_copy import WorkingCopy

T = TypeVar("T")
Answer = dict[str, Any]

STRATEGIES = ("ours", "theirs", "agent", "interactive")
NO_CONFLICTS_WANTED = "Unresolved merge conflicts are pending: resolve and finalize them, or abort."
MAX_ATTEMPTS = 5  # of a push while others push too
SYNC_SECONDS = 90.0  # of waiting for another sync of the same project
SHORT = 7  # characters of a commit's name, as git shows it
THEIRS = "theirs"  # keeps the remote commit of a pending merge from being collected


@dataclass(frozen=True)
class Integrated:
    """The result of merging a remote commit; without `head` the merge stopped at conflicts."""

    merged: MergedTree
    head: str | None
    commits: int


class GitSync:
    """Pushes and pulls one project's knowledge, one call at a time."""

    def __init__(self, store: KnowledgeStore) -> None:
        self._store = store
        self._project = store.project

    async def push(self, message: str = "") -> Answer:
        """Commit the folder and push it. The answer's status says how far that came."""
        async with self.syncing() as repository:
            await self.require_no_conflicts()
            made = await self.locally(lambda work: work.commit_local(message, refuse_secrets))
            remote = await GIT.run(find_remote, repository)
            answer: Answer = {"status": "committed" if made else "nothing_to_push"}
            if made:
                answer["commit"] = made[:SHORT]
                answer["commit_message"] = await GIT.run(History(repository).subject, made)
            if remote is None:
                return answer
            try:
                answer |= await self._share(remote)
            except GitFailed as error:
                answer |= {"status": "committed", "push_error": error.message}
            return answer | await self._renumber_private()

    async def _share(self, remote: Remote) -> Answer:
        """Merge the remote branch and push; start over where another push came first."""
        notes: Answer = {}
        for _ in range(MAX_ATTEMPTS):
            theirs = await GIT.run(remote.fetch)
            if theirs is not None:
                step = partial(integrate, remote=remote, theirs=theirs, prefer=None)
                done = await self.locally(step)
                if done is not None and done.head is None:
                    return _blocked(done.merged, remote)
                notes |= _notes(done.merged, remote) if done else {}
            try:
                published = await self._publish(remote, theirs)
            except PushRejected as error:
                if error.moved_on:
                    continue
                return {"status": "rejected", "push_error": error.message, **notes}
            return ({"status": "pushed", "commit": published[:SHORT]} if published else {}) | notes
        reason = f"{remote} moved on {MAX_ATTEMPTS} times meanwhile; push again."
        return {"status": "rejected", "push_error": reason, **notes}

    async def _publish(self, remote: Remote, theirs: str | None) -> str | None:
        """Push; return the commit that the remote has now, None if it had everything."""
        ready = await self.locally(lambda work: prepare_publication(work.history, remote, theirs))
        if ready is None:
            return None
        await GIT.run(remote.push, ready.commit)
        await self.locally(lambda work: finish_publication(work, ready))
        return ready.commit

    async def pull(self, strategy: str = "ours") -> Answer:
        """Merge the remote branch into the folder; raises KnowledgeRefused for a wrong strategy.

        With the strategy `agent` a conflict changes nothing and waits to be resolved.
        """
        if strategy not in STRATEGIES:
            raise KnowledgeRefused(f"Invalid strategy '{strategy}'. Use: ours, theirs, agent.")
        prefer = Side(strategy) if strategy in ("ours", "theirs") else None
        async with self.syncing() as repository:
            await self.require_no_conflicts()
            remote = await GIT.run(find_remote, repository)
            if remote is None:
                return {"status": "no_remote", "error": "No remote configured"}
            theirs = await GIT.run(remote.fetch)
            if theirs is None:
                return {"status": "up_to_date", "note": f"{remote} does not exist yet"}
            done = await self.locally(lambda work: self._pull(work, remote, theirs, prefer))
            if isinstance(done, PendingMerge):
                return conflict_answer(done)
            moved = await renumber_private(self._store)
            return _pulled(done, remote, strategy) | (
                {"renumbered_private": moved} if moved else {}
            )

    def _pull(
        self, work: Integration, remote: Remote, theirs: str, prefer: Side | None
    ) -> Integrated | PendingMerge | None:
        if prefer is not None:  # so that our version is in a commit, whichever side wins
            work.commit_local("", refuse_secrets)
        done = integrate(work, remote, theirs, prefer)
        if done is None or done.head is not None:
            return done
        pending = PendingMerge(
            str(uuid4()),
            str(remote),
            theirs,
            work.history.repository.prefix,
            pending_files(done.merged.conflicts),
            tuple(done.merged.auto_resolved),
        )
        work.history.set_refs({THEIRS: theirs})
        write_pending(self._project.folder, pending)
        return pending

    async def _renumber_private(self) -> Answer:
        """Private decisions give way to public ones that arrived with their number."""
        moved = await renumber_private(self._store)
        return {"renumbered_private": moved} if moved else {}

    # --- the frame of every step -----------------------------------------------------------

    @asynccontextmanager
    async def syncing(self) -> AsyncIterator[Repository]:
        """Let nobody else sync this project; raises GitFailed outside a repository."""
        repository = await GIT.run(lambda: self._project.repository)
        if repository is None:
            raise GitFailed("Not inside a git repository")
        async with self._project.syncing.held(SYNC_SECONDS):
            yield repository

    async def locally(self, step: Callable[[Integration], T]) -> T:
        """Do a blocking step while nobody writes, after finishing a change that a crash cut off."""

        async def work() -> T:
            hidden = await self._store.hidden_paths()
            return await GIT.run(self._run, step, hidden)

        return await self._store.write(work)

    def _run(self, step: Callable[[Integration], T], hidden: set[str]) -> T:
        repository = self._project.repository
        assert repository is not None
        history = History(repository)
        work = Integration(history, WorkingCopy(self._project, history, hidden))
        work.check_ready()
        work.recover()
        return step(work)

    async def require_no_conflicts(self) -> None:
        if await GIT.run(read_pending, self._project.folder):
            raise KnowledgeRefused(NO_CONFLICTS_WANTED)


def integrate(
    work: Integration, remote: Remote, theirs: str, prefer: Side | None
) -> Integrated | None:
    """Merge a remote commit; None if it was merged before. Without a preferred side it stops at a
    conflict and changes nothing. Blocks."""
    head, committed, ours = work.local_files()
    parted = Divergence(work.history, head, theirs)
    if parted.is_merged:
        return None
    merged = work.merge(parted, ours, prefer or Side.OURS)
    commits = work.history.count(head, theirs)
    if merged.conflicts and prefer is None:
        return Integrated(merged, None, commits)
    refuse_secrets(committed, ours)
    how = f"strategy: {prefer.value}" if prefer and merged.conflicts else "section auto-merge"
    head = work.adopt(parted, ours, merged.files, f"ctx: merge {remote} ({how})")
    return Integrated(merged, head, commits)


def refuse_secrets(before: Tree, after: Tree) -> None:
    """Raise KnowledgeRefused if a file that is to be committed seems to hold a secret."""
    for path, content in after.items():
        if before.get(path) != content:
            refuse_secret(content.decode("utf-8", "replace"), path)


def conflict_answer(pending: PendingMerge) -> Answer:
    return {
        "status": "conflicts",
        "conflict_id": pending.conflict_id,
        "files": [pending.file_path(file) for file in pending.files],
        "report": pending.report(),
    }


def _pulled(done: Integrated | None, remote: Remote, strategy: str) -> Answer:
    if done is None or done.head is None:
        return {"status": "up_to_date"}
    commit = done.head[:SHORT]
    notes = _notes(done.merged, remote)
    if done.merged.conflicts:
        notes |= {"strategy": strategy, "resolved": len(done.merged.conflicts)}
        notes["files"] = _paths(remote, [each.path for each in done.merged.conflicts])
        return {"status": "merged", "commit": commit, **notes}
    if done.merged.auto_resolved:
        return {"status": "merged", "strategy": "section-auto", "commit": commit, **notes}
    return {"status": "pulled", "commit": commit, "commits": done.commits, **notes}


def _notes(merged: MergedTree, remote: Remote) -> Answer:
    """Decisions of a merge that people should know: files merged by section, new numbers."""
    notes: Answer = {}
    if merged.auto_resolved:
        notes["auto_resolved"] = _paths(remote, merged.auto_resolved)
    if merged.renumbered:
        notes["renumbered"] = [
            {"from": each.old.rpartition("/")[2], "to": each.new.rpartition("/")[2]}
            for each in merged.renumbered
        ]
    return notes


def _blocked(merged: MergedTree, remote: Remote) -> Answer:
    return {
        "status": "rejected",
        "push_error": f"{remote} changed the same entries. Call context_sync_pull with strategy "
        "'agent' (or 'ours', 'theirs'), then push again.",
        "files": _paths(remote, [each.path for each in merged.conflicts]),
    }


def _paths(remote: Remote, paths: list[str]) -> list[str]:
    return [f"{remote.repository.prefix}/{path}" for path in paths]
