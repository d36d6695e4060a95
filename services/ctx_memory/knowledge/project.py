"""Projects: the folders whose knowledge is served, found from where a client works."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ctx_core.errors import KnowledgeRefused
from ctx_core.files import UnusablePath, resolve_given
from ctx_memory.knowledge.folder import FOLDER_NAME, KnowledgeFolder
from ctx_memory.knowledge.lock import ProjectLock, lock_path
from ctx_memory.knowledge.repository import Repository, find_repository, project_id

NOT_FOUND = "Not inside a project with a context store or git repo"


class Project:
    """One project: its folder, the repository around it, and its locks.

    `writing` is held for a change of files, `syncing` for a whole push or pull.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = KnowledgeFolder(root)
        self._repository: Repository | None = None

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def repository(self) -> Repository | None:
        """The repository that the project lies in, also one that was made since. Blocks."""
        if self._repository is None:
            self._repository = find_repository(self.root)
        return self._repository

    @cached_property
    def writing(self) -> ProjectLock:
        return ProjectLock(self._lock_path())

    @cached_property
    def syncing(self) -> ProjectLock:
        path = self._lock_path()
        return ProjectLock(path.with_name(f"{path.name}.sync"))

    def private_id(self, create: bool) -> str | None:
        """Name the project in the record store; None if it has no name yet. Blocks."""
        return project_id(self.root, self.repository, create=create)

    def _lock_path(self) -> Path:
        return lock_path(self.root, self.repository.git_dir if self.repository else None)


class Projects:
    """Finds projects: by default the one that `start` lies in, others only in allowed roots."""

    def __init__(self, start: Path, roots: Sequence[Path] = ()) -> None:
        self._start = start.resolve()
        self._roots = (self._start, *(each.resolve() for each in roots))
        self._known: dict[Path, Project] = {}

    def find(self, given: str | None = None) -> Project:
        """Return a project, or raise KnowledgeRefused. Blocks."""
        if not given:
            return self._at(_nearest(self._start))
        try:
            folder = resolve_given(self._start, given)
        except UnusablePath as error:
            raise KnowledgeRefused(f"project: the path {error}") from error
        if not folder.is_dir():
            raise KnowledgeRefused(f"project: {given} is not a folder")
        root = _nearest(folder)
        allowed = (*self._roots, _nearest(self._start))
        if root is not None and not any(each and root.is_relative_to(each) for each in allowed):
            raise KnowledgeRefused(
                f"project: {given} lies outside the folders of this server (CTX_WORKSPACE, "
                "CTX_WORKSPACE_ROOTS)"
            )
        return self._at(root)

    def _at(self, root: Path | None) -> Project:
        if root is None:
            raise KnowledgeRefused(NOT_FOUND)
        return self._known.setdefault(root, Project(root))


def _nearest(folder: Path) -> Path | None:
    """The folder itself or the nearest above it that has a knowledge folder or a repository."""
    for each in (folder, *folder.parents):
        if (each / FOLDER_NAME).is_dir() or (each / ".git").exists():
            return each
    return None
