"""The remote branch that a project's knowledge is shared by."""

import logging
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ctx_core.errors import GitFailed, KnowledgeRefused
from ctx_core.git.run import git_line, run_git
from ctx_memory.knowledge.repository import Repository

log = logging.getLogger(__name__)

DEFAULT_REMOTE = "origin"
# git holds the lock of a reference for milliseconds; one that is older was left by a loss of power.
STALE_LOCK_SECONDS = 10.0
LOCK_POLL_SECONDS = 0.1
_NAME = re.compile(r"\w[\w./-]*")  # never an option
_SSH_ADDRESS = re.compile(r"[^/]+:(?!//)")  # host:path, unless a slash comes before the colon
_MOVED_ON = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref"
)


class PushRejected(GitFailed):
    """The remote did not take a push. `moved_on` says that it has commits we do not know yet."""

    moved_on = False


@dataclass(frozen=True)
class Remote:
    """A branch of a remote. Every method blocks and may raise GitFailed."""

    repository: Repository
    name: str
    branch: str

    def __str__(self) -> str:
        return f"{self.name}/{self.branch}"

    @property
    def tracking(self) -> str:
        return f"refs/remotes/{self.name}/{self.branch}"

    def fetch(self) -> str | None:
        """Get the branch; return its commit, None if the remote has no such branch."""
        self._wait_for_lock()
        try:
            self._fetch(f"+refs/heads/{self.branch}:{self.tracking}")
        except GitFailed as error:
            if "couldn't find remote ref" not in error.message:
                raise
            self._fetch(f"+refs/heads/*:refs/remotes/{self.name}/*")  # where it may start from
            return None
        return git_line(self.repository.top, "rev-parse", "--verify", self.tracking)

    def push(self, commit: str) -> None:
        """Move the branch forward to a commit; raises PushRejected if the remote refuses."""
        try:
            run_git(
                self.repository.top,
                "push",
                "--no-verify",
                "--no-follow-tags",
                self.name,
                f"{commit}:refs/heads/{self.branch}",
                transport=True,
            )
        except GitFailed as error:
            if "rejected]" not in error.message:
                raise
            rejected = PushRejected(error.message)
            rejected.moved_on = _MOVED_ON.search(error.message) is not None
            raise rejected from error

    def fork_point(self, commit: str) -> str | None:
        """The latest commit of this history that the remote has on any branch."""
        listed = git_line(
            self.repository.top,
            "rev-list", "--boundary", "--topo-order", commit, "--not", f"--remotes={self.name}",
        )  # fmt: skip
        lines = (listed or "").splitlines()
        if not lines:
            return commit
        return next((line[1:] for line in lines if line.startswith("-")), None)

    def _wait_for_lock(self) -> None:
        """Wait for the lock of the tracking reference; delete one whose git is long gone."""
        folder = self.repository.common_dir.resolve()
        lock = folder / f"{self.tracking}.lock"
        found = _regular_file(lock)
        if found is None or not lock.parent.resolve().is_relative_to(folder):
            return
        age = time.time() - found.st_mtime
        # Its time may be one of a clock that was wrong: nobody waits longer than for a new one.
        deadline = time.monotonic() + min(STALE_LOCK_SECONDS - age, STALE_LOCK_SECONDS)
        while time.monotonic() < deadline:
            time.sleep(LOCK_POLL_SECONDS)
            if not _is_same(_regular_file(lock), found):
                return
        log.warning("git left a lock of %s behind; it is deleted", self.tracking)
        lock.unlink(missing_ok=True)

    def _fetch(self, refspec: str) -> None:
        run_git(
            self.repository.top,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            self.name,
            refspec,
            transport=True,
        )


def _regular_file(path: Path) -> os.stat_result | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _is_same(file: os.stat_result | None, earlier: os.stat_result) -> bool:
    return file is not None and (file.st_ino, file.st_mtime_ns) == (
        earlier.st_ino,
        earlier.st_mtime_ns,
    )


def find_remote(repository: Repository) -> Remote | None:
    """The branch to share by: the upstream of the current one, else the one of the same name.

    A detached HEAD shares by the remote's default branch. None if there is no remote.
    """
    top = repository.top
    names = [name for name in (git_line(top, "remote") or "").splitlines() if _NAME.fullmatch(name)]
    if not names:
        return None
    current = git_line(top, "symbolic-ref", "--quiet", "--short", "HEAD")
    configured = git_line(top, "config", f"branch.{current}.remote") if current else None
    if configured in names:
        name = str(configured)
    elif DEFAULT_REMOTE in names or len(names) == 1:
        name = DEFAULT_REMOTE if DEFAULT_REMOTE in names else names[0]
    else:
        raise KnowledgeRefused(
            f"The repository has several remotes ({', '.join(names)}) and none is called origin. "
            "Set an upstream for this branch."
        )
    _refuse_own_folder(repository, name)
    upstream = git_line(top, "config", f"branch.{current}.merge") if configured == name else None
    branch = (upstream or "").removeprefix("refs/heads/") or current
    return Remote(repository, name, branch or _default_branch(repository, name))


def _default_branch(repository: Repository, name: str) -> str:
    """The branch that the remote's HEAD names."""
    printed = run_git(
        repository.top, "ls-remote", "--symref", name, "HEAD", transport=True
    ).decode()
    found = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", printed, re.MULTILINE)
    if found is None:
        raise KnowledgeRefused("HEAD is detached and the remote has no default branch.")
    return found[1]


def _refuse_own_folder(repository: Repository, name: str) -> None:
    """Refuse a remote that lies in the work tree: its hooks would run on a push."""
    for option in ((), ("--push",)):
        url = git_line(repository.top, "remote", "get-url", *option, name) or ""
        path = _local_path(url)
        if path is None:
            continue
        target = (repository.top / path).resolve()
        if target.is_relative_to(repository.top.resolve()):
            raise KnowledgeRefused(f"The remote {name} lies in the project itself.")


def _local_path(url: str) -> Path | None:
    """The path that a remote's address names on this machine; None for another machine."""
    if "://" in url:
        parts = urlsplit(url)
        return Path(unquote(parts.path)) if parts.scheme == "file" else None
    return None if _SSH_ADDRESS.match(url) else Path(url)
