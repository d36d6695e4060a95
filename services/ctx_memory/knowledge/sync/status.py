"""The files that a push would share and a pull would bring, by the last fetch."""

from typing import Any

from ctx_core.blocking import GIT
from ctx_core.errors import GitFailed, KnowledgeRefused
from ctx_memory.knowledge.project import Project
from ctx_memory.knowledge.repository import Repository
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.sync.conflicts import read_pending
from ctx_memory.knowledge.sync.history import History
from ctx_memory.knowledge.sync.integration import Divergence, Integration, difference
from ctx_memory.knowledge.sync.remote import find_remote
from ctx_memory.knowledge.sync.working_copy import WorkingCopy, committed_files

Answer = dict[str, Any]


async def sync_status(store: KnowledgeStore) -> Answer:
    """Return the remote, files to commit, to push and to pull, and conflicts; changes nothing.

    Raises GitFailed outside a repository.
    """
    hidden = await store.hidden_paths()
    return await GIT.run(_status, store.project, hidden)


def _status(project: Project, hidden: set[str]) -> Answer:
    repository = project.repository
    if repository is None:
        raise GitFailed("Not inside a git repository")
    history = History(repository)
    work = Integration(history, WorkingCopy(project, history, hidden))
    head, committed, files = work.local_files()
    answer: Answer = {"remote": None, "to_commit": sorted(difference(committed, files))}
    if pending := read_pending(project.folder):
        answer["conflicts"] = [pending.file_path(file) for file in pending.files]
    try:
        remote = find_remote(repository)
    except (GitFailed, KnowledgeRefused) as error:
        return answer | {"note": error.message}
    if remote is None:
        return answer
    answer["remote"] = str(remote)
    return answer | _against(repository, head, history.resolve(remote.tracking), dict(files))


def _against(
    repository: Repository, head: str | None, theirs: str | None, files: dict[str, bytes]
) -> Answer:
    """Compare with the remote branch as it was fetched last."""
    if theirs is None:
        return {"to_push": sorted(files), "to_pull": [], "note": "never fetched"}
    parted = Divergence(History(repository), head, theirs)
    base, known = committed_files(parted.history, parted.base, theirs)
    return {
        "to_push": sorted(difference(base, files)),
        "to_pull": [] if parted.is_merged else sorted(difference(base, known)),
    }
