"""The name of a repository, and the identity that tells it from others of the same name."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ctx_core.git.run import git_line

MAX_NAME = 128
_NOT_IN_NAMES = re.compile(r"[^\w.\-]+")
_CREDENTIALS = re.compile(r"^(\w+://)[^/@]*@")


@dataclass(frozen=True)
class Repo:
    """A repository. `identity` is the same for each of its checkouts and worktrees."""

    name: str
    identity: str

    def disambiguated_name(self) -> str:
        """Return the name with a hash of the identity, unlike other repositories of that name."""
        digest = blake2b(self.identity.encode("utf-8", "surrogateescape"), digest_size=3)
        return f"{self.name}-{digest.hexdigest()}"


def repo_of(workspace: Path) -> Repo:
    """Name a workspace by its remote, else its main checkout's folder, else its own folder. Blocks.

    A subfolder of a repository counts as a folder outside git.
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
    return _NOT_IN_NAMES.sub("-", name).strip("-.")[:MAX_NAME] or "workspace"
