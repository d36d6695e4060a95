"""Reads and writes files of a folder whose content is hostile: a cloned repository.

Every path is opened folder by folder from the root, and no link is followed, so that nothing
outside is reached, also where a folder becomes a link in the meantime. Only regular files are
read, without waiting for them (a pipe would never end), and never more than was asked for.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self
from uuid import uuid4

# Where a folder cannot be opened and used as a starting point (Windows), each part of a path is
# checked before the file is opened: a link that is put there between the two is not noticed.
OPENS_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

_SHARED_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _SHARED_FLAGS
_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | _SHARED_FLAGS
)
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _SHARED_FLAGS
_NEW_FILE_MODE = 0o644
_NEW_FOLDER_MODE = 0o755


class NotConfined(OSError):
    """A path leads through a link, or out of the folder."""


class NotAFile(OSError):
    """A path names something else than a regular file: a folder, a pipe, a device."""


class Entry(NamedTuple):
    """A name in a folder; a link to a folder is none itself."""

    name: str
    is_folder: bool


class ConfinedFolder:
    """A folder and the files really inside it. Paths are relative, with slashes. Blocks.

    Keeps the folder that was used last open: files are read folder by folder. Not for several
    threads at once.
    """

    def __init__(self, root: Path) -> None:
        """`root` is trusted: links in it are followed."""
        self.root = root
        self._opened: tuple[str, int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder that was kept open."""
        if self._opened:
            os.close(self._opened[1])
            self._opened = None

    def status(self, path: str) -> os.stat_result:
        """Return the status of a file or link itself. Raises FileNotFoundError, NotConfined."""
        folder, name = _split(path)
        if not OPENS_BY_FOLDER:
            return self._checked(path).lstat()
        return os.stat(name, dir_fd=self._folder(folder), follow_symlinks=False)

    def read(self, path: str, max_bytes: int) -> bytes:
        """Read at most so many bytes of a regular file. Raises OSError, NotConfined, NotAFile."""
        opened = self._open_file(path)
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise NotAFile(errno.EINVAL, "not a regular file", path)
            return _read(opened, max_bytes)
        finally:
            os.close(opened)

    def entries(self, path: str = "") -> list[Entry]:
        """List a folder by name. Raises OSError, NotConfined."""
        place = self._folder(path) if OPENS_BY_FOLDER else self._checked(path)
        with os.scandir(place) as scanned:
            found = [Entry(entry.name, entry.is_dir(follow_symlinks=False)) for entry in scanned]
        return sorted(found)

    def has_folder(self, path: str) -> bool:
        """Whether a path is a folder, reached without a link."""
        try:
            if not OPENS_BY_FOLDER:
                return stat.S_ISDIR(self._checked(path).lstat().st_mode)
            self._folder(path)
        except OSError:
            return False
        return True

    def make_folder(self, path: str) -> None:
        """Create a folder where there is none. Raises NotConfined for a link or another thing."""
        folder, name = _split(path)
        with contextlib.suppress(FileExistsError):
            if OPENS_BY_FOLDER:
                os.mkdir(name, _NEW_FOLDER_MODE, dir_fd=self._folder(folder))
            else:
                self._checked(path).mkdir()
        if not self.has_folder(path):
            raise NotConfined(errno.ELOOP, "not a plain folder", path)

    def replace(self, path: str, text: str) -> None:
        """Write a file so that a reader sees the old or the new one. Raises OSError, NotConfined.

        A link in its place is replaced, not followed.
        """
        folder, name = _split(path)
        partial = f".{name}.{uuid4().hex}"  # of our own: several processes may replace one file
        if not OPENS_BY_FOLDER:
            self._replace_checked(path, partial, text)
            return
        opened = self._folder(folder)
        try:
            made = os.open(partial, _WRITE_FLAGS, _NEW_FILE_MODE, dir_fd=opened)
            with os.fdopen(made, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, name, src_dir_fd=opened, dst_dir_fd=opened)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial, dir_fd=opened)
            raise

    def remove(self, path: str) -> None:
        """Remove a file, or a link in its place. Raises OSError, NotConfined."""
        folder, name = _split(path)
        if OPENS_BY_FOLDER:
            os.unlink(name, dir_fd=self._folder(folder))
        else:
            self._checked(path).unlink()

    def _open_file(self, path: str) -> int:
        folder, name = _split(path)
        try:
            if not OPENS_BY_FOLDER:
                return os.open(self._checked(path), _READ_FLAGS)
            return os.open(name, _READ_FLAGS, dir_fd=self._folder(folder))
        except OSError as error:
            raise _translated(error, path) from error

    def _folder(self, path: str) -> int:
        """Open a folder of the root part by part, or return the one that is still open."""
        if self._opened and self._opened[0] == path:
            return self._opened[1]
        self.close()
        opened = os.open(self.root, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
        try:
            for part in _parts(path):
                inner = os.open(part, _FOLDER_FLAGS, dir_fd=opened)
                os.close(opened)
                opened = inner
        except OSError as error:
            os.close(opened)
            raise _translated(error, path) from error
        self._opened = (path, opened)
        return opened

    def _checked(self, path: str) -> Path:
        """Return the whole path if none of the folders above it is a link."""
        whole = self.root
        for part in _parts(path):
            if whole != self.root and (whole.is_symlink() or _is_junction(whole)):
                raise NotConfined(errno.ELOOP, "reached through a link", path)
            whole = whole / part
        if whole.is_symlink() or _is_junction(whole):
            raise NotConfined(errno.ELOOP, "a link", path)
        return whole

    def _replace_checked(self, path: str, partial: str, text: str) -> None:
        whole = self._checked(path)
        temporary = whole.with_name(partial)
        try:
            with temporary.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(whole)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    if not _parts(name):
        raise NotConfined(errno.EINVAL, "no name of a file", path)
    return folder, name


def _parts(path: str) -> list[str]:
    """Return the parts of a path. Raises NotConfined for one that leaves the folder."""
    parts = path.split("/") if path else []
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise NotConfined(errno.EINVAL, "not a path inside the folder", path)
    return parts


def _translated(error: OSError, path: str) -> OSError:
    """A link where none is allowed has several error numbers, by system and kind of call."""
    links = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)
    if error.errno in links and not isinstance(error, NotConfined):
        return NotConfined(errno.ELOOP, "reached through a link or a file", path)
    if error.errno == errno.ENXIO:  # a pipe or a socket that nobody serves
        return NotAFile(errno.EINVAL, "not a regular file", path)
    return error


def _read(opened: int, max_bytes: int) -> bytes:
    """Read until the end or the limit; a read may return less than it was asked for."""
    blocks: list[bytes] = []
    left = max_bytes
    while left > 0 and (block := os.read(opened, left)):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


def _is_junction(path: Path) -> bool:
    """Whether a Windows folder is a junction, which acts as a link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    tag = getattr(status, "st_reparse_tag", 0)
    return bool(tag) and tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
