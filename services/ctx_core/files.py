"""Files: replace one atomically and durably; resolve a path that a client gave."""

import os
from pathlib import Path
from uuid import uuid4


def replace_file(path: Path, content: str | bytes) -> None:
    """Write bytes, or text as UTF-8, so that a reader sees the old or the new file, never a part.

    Blocks until the file and its folder are on the disk; raises OSError and leaves the old file.
    """
    # A name of its own: several processes may replace one file. `x` never follows a link.
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with partial.open("xb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


class UnusablePath(ValueError):
    """A path that no file can have; the text says why."""


def resolve_given(base: Path, given: str) -> Path:
    """Resolve a path, absolute or relative to `base`, with its links. Blocks.

    Raises UnusablePath for a NUL, a loop of links, or names that are too long.
    """
    if "\0" in given:
        raise UnusablePath("holds a NUL character")
    try:
        path = (base / given).resolve()
        path.exists()
    except OSError as error:
        raise UnusablePath(f"cannot be used: {error.strerror}") from error
    except RuntimeError as error:
        raise UnusablePath("is a loop of links") from error
    except ValueError as error:
        raise UnusablePath("holds a character that no path may have") from error
    return path


def sync_folder(folder: Path) -> None:
    """Block until the names in a folder are on the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened, and a rename is durable by itself
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
