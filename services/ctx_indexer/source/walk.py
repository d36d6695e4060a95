"""The files of a workspace that git would track, with their hash, language and flags.

In a git work tree git lists the files. A submodule is part of its repository; another repository
inside is not, it is a workspace of its own. Outside git the folder is walked and `.gitignore` files
apply as in git. `.ctxignore` excludes more in both cases. Symbolic links are never followed: their
target is either indexed under its own name or lies outside.
"""

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ctx_core.confined_folder import ConfinedFolder, NotAFile, NotConfined
from ctx_core.secrets.filenames import is_key_file, is_secret_name
from ctx_indexer.source.classify import NO_FLAGS, FileFlags, classify
from ctx_indexer.source.content import blob_of, decode, is_binary
from ctx_indexer.source.languages import language_of
from ctx_indexer.source.listing import list_files

MAX_FILE_BYTES = 1_048_576  # larger files are data: 99.9 % of source files are smaller
# Extensions of files that are never text, so never opened.
_BINARY_EXTENSIONS = frozenset(
    (
        "png jpg jpeg gif webp ico bmp tif tiff psd pdf zip gz bz2 xz zst 7z rar tar tgz jar war "
        "whl egg so dylib dll exe bin o a lib class pyc pyo pyd woff woff2 ttf otf eot mp3 mp4 "
        "mov avi mkv webm wav flac ogg m4a sqlite sqlite3 db onnx npy npz pt pth safetensors gguf "
        "parquet arrow feather h5 hdf5 pkl pickle wasm node deb rpm apk dmg iso img docx xlsx pptx"
    ).split()
)


@dataclass(frozen=True)
class FileLimits:
    """Limits on the files that are indexed."""

    max_file_bytes: int = MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)  # a run holds one for each file of a workspace
class SourceFile:
    """A file to index. `content` is None where it was not read, or was dropped again."""

    path: str
    size: int
    blob: str
    modified: float
    language: str
    flags: FileFlags = NO_FLAGS
    content: bytes | None = field(default=None, repr=False, compare=False)

    def text(self, root: Path) -> str:
        """Decode the content, read from the workspace where it was dropped. May block."""
        if self.content is not None:
            return decode(self.content)
        with ConfinedFolder(root) as folder:
            return decode(folder.read(self.path, self.size))


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not indexed, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True)
class KnownFile:
    """Size, time and hash of a file at the last run."""

    size: int
    modified: float
    blob: str


NOTHING_KNOWN: Mapping[str, KnownFile] = {}
DEFAULT_LIMITS = FileLimits()


def walk(
    root: Path,
    limits: FileLimits = DEFAULT_LIMITS,
    known: Mapping[str, KnownFile] = NOTHING_KNOWN,
    *,
    under: str = "",
    paths: Collection[str] | None = None,
) -> Iterator[SourceFile | SkippedFile]:
    """Inspect the files of a workspace in the order of their paths. Blocks.

    `under` narrows the walk to a folder, `paths` to files and folders; neither brings an excluded
    file back. A file whose size and time are known is not read: its name alone gives its language
    and flags.
    """
    with ConfinedFolder(root) as folder:
        for raw in sorted(list_files(root, paths)):
            path = os.fsdecode(raw).replace(os.sep, "/")
            if not is_under(path, under):
                continue
            if not _is_utf8(raw):
                yield SkippedFile(raw.decode("utf-8", "backslashreplace"), "not utf-8 name")
            elif (file := _inspect(folder, path, limits, known.get(path))) is not None:
                yield file


def is_under(path: str, folder: str) -> bool:
    """Whether a path lies in a folder of the workspace; "" is the workspace itself."""
    return not folder or path.startswith(f"{folder}/")


def inspect_file(
    root: Path, path: str, limits: FileLimits = DEFAULT_LIMITS
) -> SourceFile | SkippedFile | None:
    """Read and classify one file, or skip it with a reason; None where it is gone. Blocks."""
    with ConfinedFolder(root) as folder:
        return _inspect(folder, path, limits, None)


def _inspect(
    folder: ConfinedFolder, path: str, limits: FileLimits, known: KnownFile | None
) -> SourceFile | SkippedFile | None:
    if is_secret_name(path):
        return SkippedFile(path, "secret")
    if path.rsplit(".", 1)[-1].lower() in _BINARY_EXTENSIONS:
        return SkippedFile(path, "binary")
    try:
        status = folder.status(path)
        if reason := _refusal(status, limits):
            return SkippedFile(path, reason)
        if known and (known.size, known.modified) == (status.st_size, status.st_mtime):
            return _source_file(path, status, known.blob, None)
        # One byte more than allowed, so that a file that grew shows.
        content = folder.read(path, limits.max_file_bytes + 1)
    except FileNotFoundError:
        return None  # tracked but deleted, or deleted since it was listed
    except NotConfined:
        return SkippedFile(path, "symlink")
    except NotAFile:
        return SkippedFile(path, "not a file")
    except OSError:
        return SkippedFile(path, "unreadable")
    if len(content) > limits.max_file_bytes:
        return SkippedFile(path, "too large")
    if is_binary(content):
        return SkippedFile(path, "binary")
    if is_key_file(content):
        return SkippedFile(path, "secret")
    return _source_file(path, status, blob_of(content), content)


def _refusal(status: os.stat_result, limits: FileLimits) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "symlink"
    if not stat.S_ISREG(status.st_mode):
        return "not a file"
    return "too large" if status.st_size > limits.max_file_bytes else None


def _source_file(path: str, status: os.stat_result, blob: str, content: bytes | None) -> SourceFile:
    language = language_of(path, content or b"")
    return SourceFile(
        path=path,
        size=status.st_size if content is None else len(content),
        blob=blob,
        modified=status.st_mtime,
        language=language,
        flags=classify(path, language, content or b""),
        content=content,
    )


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
