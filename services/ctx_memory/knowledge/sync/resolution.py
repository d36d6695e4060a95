"""Conflicts that an agent resolves: look at them, resolve each, finish the merge or abort it."""

from dataclasses import dataclass, replace
from typing import Any

from ctx_core.blocking import GIT
from ctx_core.errors import KnowledgeNotFound, KnowledgeRefused
from ctx_memory.knowledge.manifest import PENDING_CONFLICTS
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import FileConflict, MergedTree, merge_file
from ctx_memory.knowledge.store import KnowledgeStore, refuse_secret
from ctx_memory.knowledge.sync.conflicts import (
    PendingFile,
    PendingMerge,
    pending_files,
    read_pending,
    write_pending,
)
from ctx_memory.knowledge.sync.git_sync import SHORT, THEIRS, GitSync, refuse_secrets
from ctx_memory.knowledge.sync.integration import Divergence, Integration

Answer = dict[str, Any]


@dataclass(frozen=True)
class _Finished:
    """A merge that was finished: the new HEAD and how many files were resolved or skipped."""

    head: str
    resolved: int
    skipped: int


class ConflictResolution:
    """Works on the merge that waits in a project's folder."""

    def __init__(self, store: KnowledgeStore, sync: GitSync) -> None:
        self._store = store
        self._sync = sync
        self._folder = store.project.folder

    async def status(self) -> Answer:
        """Say whether a merge waits, with its conflicts."""
        pending = await GIT.run(read_pending, self._folder)
        if pending is None:
            return {"status": "clean"}
        return {
            "status": "conflicts",
            "conflict_id": pending.conflict_id,
            "report": pending.report(),
        }

    async def detail(self, file_path: str) -> Answer:
        """Show both sides of one file; raises KnowledgeNotFound if it has no conflict."""
        return (await self._pending()).detail(file_path)

    async def resolve(self, file_path: str, content: str) -> Answer:
        """Keep the final content of one file until the merge is finished."""
        refuse_secret(content, file_path)

        async def work() -> Answer:
            pending = (await self._pending()).resolve(file_path, content)
            await GIT.run(write_pending, self._folder, pending)
            path = pending.file_path(pending.find(file_path))
            return {"status": "resolved", "file_path": path, "remaining": pending.remaining}

        return await self._store.write(work)

    async def finalize(self) -> Answer:
        """Apply resolutions, keep ours in the other conflicts, and commit the merge."""
        await self._pending(" to finalize")
        async with self._sync.syncing():
            done = await self._sync.locally(self._finalize)
        return {
            "status": "merged",
            "commit": done.head[:SHORT],
            "strategy": "interactive",
            "resolved": done.resolved,
            "skipped": done.skipped,
        }

    async def abort(self) -> Answer:
        """Forget the merge. It has changed nothing so far."""
        await self._pending(" to abort")
        async with self._sync.syncing():
            await self._sync.locally(self._forget)
        return {"status": "aborted"}

    def _finalize(self, work: Integration) -> _Finished:
        pending = read_pending(self._folder)
        if pending is None:  # another process was faster, or a crash came after the commit
            raise KnowledgeRefused("No pending conflicts to finalize")
        resolved = len(pending.files) - pending.remaining
        head, committed, ours = work.local_files()
        parted = Divergence(work.history, head, pending.theirs_commit)
        if not parted.is_merged:
            merged = work.merge(parted, ours, Side.OURS)
            files = {**merged.files, **self._resolutions(pending, merged)}
            refuse_secrets(committed, ours)
            text = f"ctx: merge {pending.remote} (interactive resolution)"
            kept = {path: content for path, content in files.items() if content is not None}
            head = work.adopt(parted, ours, kept, text)
        self._forget(work)
        return _Finished(str(head), resolved, pending.remaining)

    def _resolutions(self, pending: PendingMerge, merged: MergedTree) -> dict[str, bytes | None]:
        """The resolved files; raises KnowledgeRefused if ours changed in another way meanwhile."""
        known = {file.path: file for file in pending.files}
        contents: dict[str, bytes | None] = {}
        stale: list[FileConflict] = []
        for conflict in merged.conflicts:
            file = known.get(conflict.path)
            if file is None:
                stale.append(conflict)
            elif file.is_resolved:
                content = _resolution(file, conflict)
                if content is None:
                    stale.append(conflict)
                else:
                    is_deletion = not content and None in (file.ours, file.theirs)
                    contents[file.path] = None if is_deletion else content
        if stale:
            fresh = {file.path: file for file in pending_files(stale)}
            write_pending(self._folder, replace(pending, files=tuple({**known, **fresh}.values())))
            names = ", ".join(fresh)
            raise KnowledgeRefused(f"Changed since the conflict was found: {names}. Resolve again.")
        return contents

    def _forget(self, work: Integration) -> None:
        self._folder.remove(PENDING_CONFLICTS)
        work.history.set_refs({THEIRS: None})

    async def _pending(self, purpose: str = "") -> PendingMerge:
        pending = await GIT.run(read_pending, self._folder)
        if pending is None:
            raise KnowledgeNotFound(f"No pending conflicts{purpose}")
        return pending


def _resolution(file: PendingFile, conflict: FileConflict) -> bytes | None:
    """The resolved content with our later changes; None if these changed the same place.

    Empty content deletes a file that one side had deleted.
    """
    ours = None if conflict.ours is None else conflict.ours.decode("utf-8", "replace")
    content = (file.content or "").encode()
    if ours == file.ours:
        return content
    if ours is None or file.ours is None:
        return None
    merged = merge_file(file.path, file.ours.encode(), ours.encode(), content)
    return None if merged is None or merged.conflicts else merged.text.encode()
