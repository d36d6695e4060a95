"""A selection of paths of a workspace: single files, and folders with all that lies in them."""

from collections.abc import Collection, Iterator


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that hold a path, the nearest first; the workspace itself is left out."""
    while (end := path.rfind("/")) > 0:
        path = path[:end]
        yield path


class Selection:
    """Paths, relative to a workspace and with slashes; a path that leads out of it is left out.

    The path "" selects all of it.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self.paths = frozenset(path for path in paths if _is_inside(path))
        self._above = {folder for path in self.paths for folder in folders_above(path)}

    def holds(self, path: str) -> bool:
        """Whether a path is selected, by itself or with a folder above it."""
        if "" in self.paths or path in self.paths:
            return True
        return any(folder in self.paths for folder in folders_above(path))

    def leads_to(self, folder: str) -> bool:
        """Whether a folder is selected, or may hold a selected path."""
        return not folder or folder in self._above or self.holds(folder)


def _is_inside(path: str) -> bool:
    return not path or all(part not in ("", ".", "..") for part in path.split("/"))
