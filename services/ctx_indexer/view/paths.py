"""Paths as callers know them: relative to the workspace, also in a repository inside it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ctx_core.errors import InvalidInput


@dataclass(frozen=True)
class Paths:
    """Turns paths of repos into paths as the caller knows them, and back.

    Each repo has one root. In the workspace `/work`, `a.py` of the repo at `/work` is shown as
    `a.py`, of the repo at `/work/lib` as `lib/a.py`, of the repo at `/other` as `/other/a.py`.
    Callers outside of a container know the workspace as `host_folder`.
    """

    roots: Mapping[str, Path] = field(default_factory=dict)
    workspace: Path | None = None
    host_folder: str | None = None

    def shown(self, repo: str, path: str) -> str:
        """Return a repo's path as the caller knows it."""
        root = self.roots.get(repo)
        if root is None or self.workspace is None or root == self.workspace:
            return path
        if root.is_relative_to(self.workspace):
            return f"{root.relative_to(self.workspace).as_posix()}/{path}"
        return f"{root.as_posix()}/{path}"

    def shown_folders(self) -> dict[str, str]:
        """Return the folder before the paths of a repo, for each repo that is shown with one."""
        shown = {repo: self.shown(repo, "").strip("/") for repo in self.roots}
        return {repo: folder for repo, folder in shown.items() if folder}

    def repos_of_workspace(self) -> tuple[str, ...]:
        """Return the repos at and inside the workspace."""
        inside = [repo for repo in self.roots if self._folder(repo) is not None]
        return tuple(sorted(inside))

    def located(self, path: str) -> list[tuple[str, str]]:
        """Return each repo that may hold a caller's path, with the path inside the repo.

        An absolute path may be one of the host, whose folder is the workspace here.
        """
        given = self._relative(path)
        return self._inside(given) or [(repo, given.strip("/")) for repo in self.roots]

    def folders(self, given: str, repos: Sequence[str]) -> list[tuple[str, str]]:
        """Return the repos that a caller's folder lies in or holds, with the folder inside each.

        A folder that lies in no repo by its path is one of `repos`, of the repo at the workspace,
        or of every repo. Raises InvalidInput for a folder with `..`.
        """
        folder = self._relative(given).strip("/")
        if ".." in PurePosixPath(folder).parts:
            raise InvalidInput("under", "must not contain '..'")
        if within := self._inside(self._relative(given)):
            return within
        own = {repo: self._folder(repo) for repo in self.roots}
        named = [repo for repo in repos if repo in own]
        at_top = [repo for repo in own if own[repo] == ""]
        below = [(repo, "") for repo, inside in own.items() if _is_below(inside, folder)]
        return [(repo, folder) for repo in named or at_top or own] + below

    def place(self, given: str) -> Path | None:
        """Return the absolute path that a caller's path means; None without a workspace."""
        relative = self._relative(given)
        if relative.startswith("/"):
            return Path(os.path.normpath(relative))
        return self.workspace and Path(os.path.normpath(self.workspace / relative))

    def folder_in(self, workspace: str, folder: str | None) -> str:
        """Return a folder of a workspace that the caller names by its path; "" for this one.

        Raises InvalidInput for another workspace that is not indexed.
        """
        given = self._relative(workspace).rstrip("/")
        if given.startswith("/") and not self._inside(given):
            known = ", ".join(sorted(str(root) for root in self.roots.values())) or "none"
            raise InvalidInput("workspace_path", f"{workspace} is not indexed; indexed: {known}")
        return "/".join(part for part in (given, (folder or "").strip("/")) if part)

    def pattern(self, given: str) -> str:
        """Return a pattern relative to the workspace where it begins with the workspace."""
        return (self._relative(given) or "**") if given.startswith("/") else given

    def _inside(self, given: str) -> list[tuple[str, str]]:
        """Return the repos inside or outside the workspace whose own folder a path begins with."""
        found = []
        for repo, root in self.roots.items():
            folder = str(root) if given.startswith("/") else self._folder(repo)
            if folder and _is_below(given.rstrip("/"), folder):
                found.append((repo, given.removeprefix(folder).strip("/")))
        return found

    def _folder(self, repo: str) -> str | None:
        """Return the folder of a repo inside the workspace, "" for the workspace itself."""
        root = self.roots[repo]
        if self.workspace is None or not root.is_relative_to(self.workspace):
            return None
        relative = root.relative_to(self.workspace).as_posix()
        return "" if relative == "." else relative

    def _relative(self, path: str) -> str:
        """Return a path relative to the workspace where it lies there, here or on the host."""
        cleaned = path.strip().replace("\\", "/")
        roots = [self.host_folder, self.workspace and self.workspace.as_posix()]
        for root in (each.rstrip("/") for each in roots if each):
            if cleaned == root or cleaned.startswith(f"{root}/"):
                cleaned = cleaned.removeprefix(root).lstrip("/")
                break
        cleaned = cleaned.removeprefix("./")
        return "" if cleaned == "." else cleaned


def _is_below(folder: str | None, above: str) -> bool:
    """Whether a folder is another one, or lies below it: `a/b` below `a`; `ab` does not."""
    return bool(folder) and f"{folder}/".startswith(f"{above}/" if above else "")
