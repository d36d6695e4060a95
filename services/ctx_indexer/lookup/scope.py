"""Paths as callers know them: relative to the workspace, also in a repository inside it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ctx_core.errors import InvalidInput
from ctx_core.vectors.types import Filter
from ctx_indexer.schema.versions import without_versions
from ctx_indexer.search.filters import ALL_REPOS, SearchFilters


@dataclass(frozen=True)
class PathScope:
    """The workspace, the folder that clients know it by, and the roots of the indexed repos.

    A repo has one root: that of the checkout that the question is about, one of `checkouts`;
    `hidden` are the file versions that these do not have. Paths of the repo at the workspace are as
    they are, those of a repo inside it begin with its folder, those of a repo elsewhere are
    absolute.
    """

    roots: Mapping[str, Path] = field(default_factory=dict)
    workspace: Path | None = None
    host_folder: str | None = None
    hidden: tuple[int, ...] = ()
    checkouts: tuple[int, ...] = ()

    def viewed(self, where: Filter | None = None) -> Filter | None:
        """Narrow a filter of the store to what these checkouts have."""
        return without_versions(where, self.hidden)

    def shown(self, repo: str, path: str) -> str:
        """Return a repo's path as the caller knows it."""
        root = self.roots.get(repo)
        if root is None or self.workspace is None or root == self.workspace:
            return path
        if root.is_relative_to(self.workspace):
            return f"{root.relative_to(self.workspace).as_posix()}/{path}"
        return f"{root.as_posix()}/{path}"

    def default_repos(self) -> tuple[str, ...]:
        """Return the repos at and inside the workspace; none where it has none."""
        inside = [repo for repo in self.roots if self._folder(repo) is not None]
        return tuple(sorted(inside))

    def located(self, path: str) -> list[tuple[str, str]]:
        """Return each repo that may hold a caller's path, with the path inside the repo.

        Absolute paths may be those of the host, whose folder is the workspace here.
        """
        given = self._relative(path)
        return self._inside(given) or [(repo, given.strip("/")) for repo in self.roots]

    def _inside(self, given: str) -> list[tuple[str, str]]:
        """Return the repos inside or outside the workspace whose own folder a path begins with."""
        found = []
        for repo, root in self.roots.items():
            folder = str(root) if given.startswith("/") else self._folder(repo)
            if folder and _is_below(given.rstrip("/"), folder):
                found.append((repo, given.removeprefix(folder).strip("/")))
        return found

    def narrow(self, filters: SearchFilters, named: Sequence[str] = ()) -> SearchFilters:
        """Resolve the folders of filters to repos and folders in them, and hide other checkouts.

        A folder is one of the workspace, or of the repos that the caller named. Raises
        InvalidInput for a folder with `..`.
        """
        if filters.path_globs or filters.not_globs:
            shown = {repo: self.shown(repo, "").strip("/") for repo in self.roots}
            in_folders = tuple((repo, folder) for repo, folder in shown.items() if folder)
            filters = replace(
                filters,
                shown_folders=in_folders,
                path_globs=tuple(map(self._pattern, filters.path_globs)),
                not_globs=tuple(map(self._pattern, filters.not_globs)),
            )
        viewed = replace(filters, hidden=self.hidden, checkouts=self.checkouts)
        if not filters.under or not self.roots:
            return viewed
        pairs = [pair for folder in filters.under for pair in self._under(folder, named)]
        whole = tuple(dict.fromkeys(repo for repo, folder in pairs if not folder))
        if len(whole) == len(pairs) and not set(filters.repos).difference(whole, [ALL_REPOS]):
            return replace(viewed, under=(), repos=whole)  # all of them: nothing is narrowed
        return replace(viewed, under=(), folders=tuple(dict.fromkeys(pairs)))

    def place(self, given: str) -> Path | None:
        """Return the absolute path that a caller's path means; None without a workspace."""
        relative = self._relative(given)
        if relative.startswith("/"):
            return Path(os.path.normpath(relative))
        return self.workspace and Path(os.path.normpath(self.workspace / relative))

    def _under(self, given: str, repos: Sequence[str]) -> list[tuple[str, str]]:
        """Return the repos that a folder lies in or holds, with the folder inside each."""
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

    def folder_in(self, workspace: str, folder: str | None) -> str:
        """Return a folder of a workspace that the caller names by its path; "" for this one.

        Raises InvalidInput for another workspace that is not indexed.
        """
        given = self._relative(workspace).rstrip("/")
        if given.startswith("/") and not self._inside(given):
            known = ", ".join(sorted(str(root) for root in self.roots.values())) or "none"
            raise InvalidInput("workspace_path", f"{workspace} is not indexed; indexed: {known}")
        return "/".join(part for part in (given, (folder or "").strip("/")) if part)

    def _pattern(self, pattern: str) -> str:
        """Return a pattern relative to the workspace where it begins with the workspace."""
        return (self._relative(pattern) or "**") if pattern.startswith("/") else pattern

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
    """Whether a folder is another one, or lies below it."""
    return bool(folder) and f"{folder}/".startswith(f"{above}/" if above else "")
