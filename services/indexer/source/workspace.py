"""Workspaces: the folders that may be indexed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.core.errors import InvalidInput


@dataclass(frozen=True)
class WorkspacePath:
    """A folder to index: the workspace it belongs to, and where in it it lies."""

    workspace: Path
    subdir: str


class Workspaces:
    """The folders that may be looked at: these roots and what lies below them."""

    def __init__(self, root: Path, more: Sequence[Path] = ()) -> None:
        self.root = root.resolve()
        self._roots = (self.root, *(each.resolve() for each in more))

    def inside(self, field: str, given: str | None) -> Path:
        """The folder that was asked for, relative to the root or absolute; links are resolved."""
        folder = (self.root / Path(given or ".")).resolve()
        if self._root_of(folder) is None:
            roots = ", ".join(map(str, self._roots))
            raise InvalidInput(
                field, f"{given} lies outside {roots}; CTX_WORKSPACE says which folders may be used"
            )
        if not folder.is_dir():
            raise InvalidInput(field, f"{given or folder} is not a folder")
        return folder

    def place(self, field: str, given: str | None) -> WorkspacePath:
        """The folder as part of its workspace: the nearest repository above it, else the root."""
        folder = self.inside(field, given)
        root = self._root_of(folder) or self.root
        above = [each for each in (folder, *folder.parents) if each.is_relative_to(root)]
        home = next((each for each in above if (each / ".git").exists()), root)
        subdir = folder.relative_to(home).as_posix()
        return WorkspacePath(home, "" if subdir == "." else subdir)

    def search_root(self, given: str | None) -> Path:
        """Where to look for workspaces: by default beside the root, as the contract has it."""
        if given is None or Path(given).resolve() == self.root.parent:
            whole_disk = self.root.parent == Path(self.root.anchor)
            return self.root if whole_disk else self.root.parent
        return self.inside("search_root", given)

    def _root_of(self, folder: Path) -> Path | None:
        return next((root for root in self._roots if folder.is_relative_to(root)), None)


# --- the state file ------------------------------------------------------------------------
