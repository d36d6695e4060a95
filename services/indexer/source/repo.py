"""What a repository is called, and how one is told from another of the same name."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from services.core.git import git_line

MAX_NAME = 128
_STRANGE = re.compile(r"[^\w.\-]+")
_CREDENTIALS = re.compile(r"^(\w+://)[^/@]*@")


@dataclass(frozen=True)
class Repo:
    """`identity` is the same for every checkout and worktree of a repository."""

    name: str
    identity: str

    def apart(self) -> str:
        """A name that another repository of the same name does not have."""
        digest = blake2b(self.identity.encode("utf-8", "surrogateescape"), digest_size=3)
        return f"{self.name}-{digest.hexdigest()}"


def repo_of(workspace: Path) -> Repo:
    """Named by its remote, else by its main checkout's folder; outside git by the folder.

    A folder inside a repository is no repository: it goes by its own name. Blocking.
    """
    if not (workspace / ".git").exists():
        return Repo(_clean(workspace.name), str(workspace))
    if remote := git_line(workspace, "config", "--get", "remote.origin.url"):
        return Repo(_remote_name(remote), _CREDENTIALS.sub(r"\1", remote))
    if common := git_line(workspace, "rev-parse", "--path-format=absolute", "--git-common-dir"):
        folder = Path(common).resolve()
        main = folder.parent if folder.name == ".git" else folder
        return Repo(_clean(main.name.removesuffix(".git")), str(folder))
    return Repo(_clean(workspace.name), str(workspace))


def _remote_name(url: str) -> str:
    last = re.split(r"[/:\\]", url.rstrip("/\\"))[-1]
    return _clean(last.removesuffix(".git"))


def _clean(name: str) -> str:
    return _STRANGE.sub("-", name).strip("-.")[:MAX_NAME] or "workspace"
