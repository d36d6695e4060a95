"""The knowledge folder in the work tree, as commits see it."""

from collections.abc import Collection

from ctx_core.git.run import git
from ctx_memory.knowledge.folder import is_safe_path
from ctx_memory.knowledge.manifest import LOCAL_FILES
from ctx_memory.knowledge.merge.fields import Side
from ctx_memory.knowledge.merge.tree import Tree, merge_file
from ctx_memory.knowledge.project import Project
from ctx_memory.knowledge.sync.history import REGULAR_MODES, History


def committed_files(history: History, *commits: str | None) -> list[dict[str, bytes]]:
    """The synced files of the knowledge folder in each commit.

    Links, submodules and unsafe names are left out: they stay in commits and never reach a disk.
    """
    trees = [
        {
            path: blob.name
            for path, blob in history.blobs(commit).items()
            if blob.mode in REGULAR_MODES and is_synced(path)
        }
        for commit in commits
    ]
    contents = history.contents([name for tree in trees for name in tree.values()])
    return [{path: contents[name] for path, name in tree.items()} for tree in trees]


def is_synced(path: str) -> bool:
    """Whether a file is shared at all: files of one machine are not."""
    return is_safe_path(path) and path not in LOCAL_FILES


class WorkingCopy:
    """Reads and changes the folder under the project's lock. Every method blocks.

    `hidden` are paths, and folders with a `/` at the end, of entries that are not public: they are
    read from the last commit, not from the disk.
    """

    def __init__(self, project: Project, history: History, hidden: Collection[str]) -> None:
        self._folder = project.folder
        self._history = history
        self._hidden = {path for path in hidden if not path.endswith("/")}
        self._hidden_folders = tuple(path for path in hidden if path.endswith("/"))

    def files(self, committed: Tree) -> dict[str, bytes]:
        """The folder with its changes since a commit, whose files are given."""
        names = [path for path in self._folder.files() if is_synced(path)]
        if not names:  # a clone without a checkout: nothing was deleted
            return dict(committed)
        ignored = self._ignored([path for path in names if path not in committed])
        found = {
            path: content
            for path in names
            if path not in ignored
            and not self._is_hidden(path)
            and (content := self._folder.read_bytes(path)) is not None
        }
        kept = {path for path in names if self._is_hidden(path)}
        if any(path not in found for path in committed):
            kept |= self._not_checked_out() | {path for path in names if path in committed}
        return found | {path: committed[path] for path in kept - found.keys() if path in committed}

    def apply(self, before: Tree, after: Tree) -> None:
        """Change the folder from one set of files to another; doing it again finishes it.

        A file that somebody changed meanwhile gets both changes.
        """
        for path in sorted({*before, *after}):
            old, new = before.get(path), after.get(path)
            if old == new or (path in self._hidden and self._is_foreign(path, old)):
                continue
            current = self._folder.read_bytes(path)
            if current not in (old, new):
                new = _combined(path, old, current, new)
            if new is None:
                self._folder.remove(path)
            elif new != current:
                self._folder.write(path, new)

    def _is_hidden(self, path: str) -> bool:
        return path in self._hidden or path.startswith(self._hidden_folders)

    def _is_foreign(self, path: str, old: bytes | None) -> bool:
        """Whether a private file of another program lies where a public one arrives."""
        current = self._folder.read_bytes(path)
        return current is not None and current != old

    def _ignored(self, names: Collection[str]) -> set[str]:
        """Those of the new files that the user's ignore rules leave out."""
        repository = self._history.repository
        full = {f"{repository.prefix}/{name}": name for name in names}
        asked = "".join(f"{path}\0" for path in full).encode()
        if not asked:
            return set()
        # git fails where it ignores none of them.
        listed = git(repository.top, "check-ignore", "-z", "--stdin", stdin=asked) or b""
        return {full[path] for path in listed.decode().split("\0") if path in full}

    def _not_checked_out(self) -> set[str]:
        """Files that a sparse checkout leaves out of the work tree."""
        repository = self._history.repository
        listed = git(
            repository.top, "ls-files", "-t", "-z", "--", f":(top,literal){repository.prefix}"
        )
        lines = (listed or b"").decode("utf-8", "surrogateescape").split("\0")
        return {
            line[2:].removeprefix(f"{repository.prefix}/")
            for line in lines
            if line.startswith("S ")
        }


def _combined(
    path: str, old: bytes | None, current: bytes | None, new: bytes | None
) -> bytes | None:
    if current is None or new is None:
        return current if new is None else new
    merged = merge_file(path, old, current, new, Side.OURS)
    return current if merged is None else merged.text.encode()
