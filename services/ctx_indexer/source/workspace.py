"""Workspaces: the folders that may be indexed, and the confinement of paths to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctx_core.errors import InvalidInput
from ctx_core.files import UnusablePath, resolve_given


@dataclass(frozen=True)
class WorkspacePath:
    """A folder to index: its workspace, and its path inside it ("" is the whole workspace)."""

    workspace: Path
    subdir: str


class Workspaces:
    """The root workspace and further roots; every path is confined to them."""

    def __init__(self, root: Path, more: Sequence[Path] = ()) -> None:
        self.root = root.resolve()
        self._roots = (self.root, *(each.resolve() for each in more))

    def inside(self, field: str, given: str | None) -> Path:
        """Resolve a folder, absolute or relative to the root workspace, with its links. Blocks.

        Raises InvalidInput, which names `field`, for a folder outside the roots or none at all.
        """
        folder = self._resolve(field, given or ".")
        if self._root_of(folder) is None:
            roots = ", ".join(map(str, self._roots))
            raise InvalidInput(
                field, f"{given} lies outside {roots}; CTX_WORKSPACE says which folders may be used"
            )
        if not folder.is_dir():
            raise InvalidInput(field, f"{given or folder} is not a folder")
        return folder

    def locate(self, field: str, given: str | None, *, anywhere: bool = False) -> WorkspacePath:
        """Find the workspace of a folder: the nearest repository above it, else its root. Blocks.

        `anywhere` admits folders outside the roots. Raises InvalidInput as `inside` does.
        """
        named = Path(given or ".")
        if anywhere and named.is_absolute() and self._root_of(named.resolve()) is None:
            return locate_anywhere(named)
        folder = self.inside(field, given)
        root = self._root_of(folder) or self.root
        above = [each for each in (folder, *folder.parents) if each.is_relative_to(root)]
        return _workspace_of(folder, above, root)

    def search_root(self, given: str | None) -> Path:
        """Return the folder to scan for workspaces: by default the parent of the root workspace.

        The whole disk is never scanned. Raises InvalidInput as `inside` does.
        """
        parent = self.root.parent
        if given is None or self._resolve("search_root", given, Path()) == parent:
            whole_disk = self.root.parent == Path(self.root.anchor)
            return self.root if whole_disk else self.root.parent
        return self.inside("search_root", given)

    def _resolve(self, field: str, given: str, base: Path | None = None) -> Path:
        try:
            return resolve_given(base or self.root, given)
        except UnusablePath as error:
            raise InvalidInput(field, f"the path {error}") from error

    def _root_of(self, folder: Path) -> Path | None:
        return next((root for root in self._roots if folder.is_relative_to(root)), None)


def resolve_workspace(folder: Path) -> Path:
    """Resolve the folder of a workspace. Blocks.

    Raises InvalidInput where it is no folder, or holds the home folder: far too large to index.
    """
    try:
        resolved = folder.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InvalidInput(
            "workspace", f"{folder} cannot be opened; name an existing folder"
        ) from error
    if not resolved.is_dir():
        raise InvalidInput("workspace", f"{folder} is not a folder; name the project's folder")
    if resolved == Path(resolved.anchor) or resolved in _home_and_above():
        raise InvalidInput(
            "workspace",
            f"{resolved} is the home folder or holds it; name one project's folder inside it",
        )
    return resolved


def locate_anywhere(folder: Path) -> WorkspacePath:
    """Find the workspace of any folder: the nearest repository above it, else itself. Blocks.

    The home folder and those above it are no workspaces. Raises InvalidInput.
    """
    resolved = resolve_workspace(folder)
    too_large = _home_and_above() | {Path(resolved.anchor)}
    above = [each for each in (resolved, *resolved.parents) if each not in too_large]
    return _workspace_of(resolved, above, resolved)


def _workspace_of(folder: Path, above: Sequence[Path], default: Path) -> WorkspacePath:
    workspace = next((each for each in above if (each / ".git").exists()), default)
    subdir = folder.relative_to(workspace).as_posix()
    return WorkspacePath(workspace, "" if subdir == "." else subdir)


def _home_and_above() -> set[Path]:
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        return set()
    return {home, *home.parents}
