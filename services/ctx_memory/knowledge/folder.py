"""The knowledge folder on disk: reads and writes that never leave it nor follow a link."""

import contextlib
import errno
import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ctx_core.errors import KnowledgeRefused, StorageFailed
from ctx_core.files import replace_file

log = logging.getLogger(__name__)

FOLDER_NAME = ".context-teleport"
MAX_FILE_BYTES = 4 * 1024 * 1024  # as much as one request may carry; larger files are no entries
# Neither exists on Windows, which has no such links and pipes in folders.
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BEING_WRITTEN = re.compile(r"\..+\.[0-9a-f]{32}")  # written by `replace_file`
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:*?\"<>|]")


class KnowledgeFolder:
    """The files of one folder, by their path in it with `/`. Every method blocks.

    A link, a device or a path that leads out raises KnowledgeRefused when written, and is not
    there when read.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDER_NAME

    @property
    def exists(self) -> bool:
        return _is_folder(self.path)

    def read_bytes(self, name: str) -> bytes | None:
        """The content of a file; None if there is none, or it is too large or not a file."""
        if not is_safe_path(name) or not self._is_inside(name):
            return None
        try:
            content = _read(self.path / name)
        except OSError:
            return None
        if len(content) > MAX_FILE_BYTES:
            log.warning("%s of the knowledge folder is larger than %d bytes", name, MAX_FILE_BYTES)
            return None
        return content

    def read(self, name: str) -> str | None:
        """The text of a file; bytes that are not UTF-8 are replaced."""
        content = self.read_bytes(name)
        return None if content is None else content.decode("utf-8", "replace")

    def write(self, name: str, text: str | bytes) -> None:
        """Replace a file as a whole, with the folders it needs. Raises KnowledgeRefused."""
        if not is_safe_path(name):
            raise KnowledgeRefused(f"Unsafe file name {name!r} in the knowledge folder")
        path = self.path / name
        for folder in (self.path, *self._folders(name)):
            if not _is_folder(folder):
                with contextlib.suppress(FileExistsError):
                    folder.mkdir()
            if not _is_folder(folder):
                raise KnowledgeRefused(f"{folder.name} of the knowledge folder is not a folder")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise KnowledgeRefused(f"{name} of the knowledge folder is not a regular file")
        try:
            replace_file(path, text)
        except OSError as error:
            raise StorageFailed(f"{name} cannot be written: {error.strerror}") from error

    def remove(self, name: str) -> bool:
        """Delete a file, and folders that it leaves empty; whether it was there."""
        if not is_safe_path(name) or not self._is_inside(name):
            return False
        path = self.path / name
        try:
            path.unlink()
        except OSError:
            return False
        for folder in reversed(self._folders(name)):
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()
        return True

    def names(self, folder: str = "", ending: str = "") -> list[str]:
        """Regular files directly in a folder, by name."""
        if folder and not self._is_inside(f"{folder}/x"):
            return []
        return sorted(
            entry.name
            for entry in _scan(self.path / folder)
            if entry.is_file(follow_symlinks=False)
            and entry.name.endswith(ending)
            and not _BEING_WRITTEN.fullmatch(entry.name)
        )

    def folders(self, folder: str) -> list[str]:
        """Folders directly in a folder, by name; links are none."""
        if not self._is_inside(f"{folder}/x"):
            return []
        return sorted(
            entry.name for entry in _scan(self.path / folder) if entry.is_dir(follow_symlinks=False)
        )

    def files(self) -> dict[str, os.stat_result]:
        """Every regular file with a safe name, and its `stat`."""
        return dict(self._walk(""))

    def _walk(self, folder: str) -> Iterator[tuple[str, os.stat_result]]:
        for entry in sorted(_scan(self.path / folder), key=lambda entry: entry.name):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if not is_safe_path(name) or _BEING_WRITTEN.fullmatch(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(name)
            elif entry.is_file(follow_symlinks=False):
                yield name, entry.stat(follow_symlinks=False)

    def _folders(self, name: str) -> list[Path]:
        """The folders between ours and a file, from the outside in."""
        parents = PurePosixPath(name).parents
        return [self.path / each for each in reversed(parents) if each != PurePosixPath()]

    def _is_inside(self, name: str) -> bool:
        return all(_is_folder(folder) for folder in (self.path, *self._folders(name)))


def is_safe_path(name: str) -> bool:
    """Whether a path stays in its folder, and every system could write it."""
    parts = name.split("/")
    return not any(
        part in ("", ".", "..") or part.lower() == ".git" or _UNSAFE.search(part) for part in parts
    )


def _is_folder(path: Path) -> bool:
    """Whether it is a folder itself, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    if not _is_folder(folder):
        return []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _read(path: Path) -> bytes:
    """The beginning of a regular file; raises OSError for a link, a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | NO_LINK | NO_WAIT)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(MAX_FILE_BYTES + 1)
