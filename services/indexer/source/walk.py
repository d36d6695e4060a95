"""The files of a workspace that git would track, with their hash, language and purpose.

In a git work tree git is asked; a submodule is part of its repository, while a repository that
merely lies inside is not (it is a workspace of its own). Elsewhere the folder is walked and
`.gitignore` files are honoured as git would. `.ctxignore` leaves out more in both cases. Symbolic
links are never followed: what they show is either indexed under its own name or lies elsewhere.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from services.core.errors import InvalidInput
from services.indexer.source.classify import flags_of
from services.indexer.source.content import blob_of, decode, is_binary
from services.indexer.source.languages import language_of
from services.indexer.source.listing import listing
from services.indexer.source.secrets import is_secret_content, is_secret_name

MAX_FILE_BYTES = 1_048_576  # larger ones are data: 99.9 % of source files are smaller
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
# Never text, so never opened.
_BINARY_EXTENSIONS = frozenset(
    (
        "png jpg jpeg gif webp ico bmp tif tiff psd pdf zip gz bz2 xz zst 7z rar tar tgz jar war "
        "whl egg so dylib dll exe bin o a lib class pyc pyo pyd woff woff2 ttf otf eot mp3 mp4 "
        "mov avi mkv webm wav flac ogg m4a sqlite sqlite3 db onnx npy npz pt pth safetensors gguf "
        "parquet arrow feather h5 hdf5 pkl pickle wasm node deb rpm apk dmg iso img docx xlsx pptx"
    ).split()
)


@dataclass(frozen=True)
class Limits:
    """What is too much for an index."""

    max_file_bytes: int = MAX_FILE_BYTES


@dataclass(frozen=True)
class SourceFile:
    """A file to index. `content` is there when it had to be read anyway, else None."""

    path: str
    size: int
    blob: str
    modified: float
    language: str
    is_test: bool
    is_config: bool
    is_docs: bool
    is_generated: bool
    is_vendored: bool
    content: bytes | None = field(default=None, repr=False, compare=False)

    def text(self, root: Path) -> str:
        """Its content, decoded; read from the workspace where it was not kept."""
        return decode(self.content if self.content is not None else (root / self.path).read_bytes())


@dataclass(frozen=True)
class Skipped:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Known:
    """What is remembered of a file from the last time."""

    size: int
    modified: float
    blob: str


NOTHING_KNOWN: Mapping[str, Known] = {}
DEFAULT_LIMITS = Limits()


def walk(
    root: Path, limits: Limits = DEFAULT_LIMITS, known: Mapping[str, Known] = NOTHING_KNOWN
) -> Iterator[SourceFile | Skipped]:
    """Every file of the workspace, to index or to skip, by its path relative to the root.

    A file whose size and time are as known is not read: its language and flags are then told from
    its name alone, and its content is None.
    """
    root = checked(root)
    for raw in sorted(listing(root)):
        path = os.fsdecode(raw).replace(os.sep, "/")
        if not _is_utf8(raw):
            yield Skipped(raw.decode("utf-8", "backslashreplace"), "not utf-8 name")
        elif (found := look(root, path, limits, known.get(path))) is not None:
            yield found


def look(
    root: Path, path: str, limits: Limits = DEFAULT_LIMITS, known: Known | None = None
) -> SourceFile | Skipped | None:
    """One file of the workspace, as `walk` sees it; None where there is none."""
    if is_secret_name(path):
        return Skipped(path, "secret")
    if path.rsplit(".", 1)[-1].lower() in _BINARY_EXTENSIONS:
        return Skipped(path, "binary")
    try:
        status = (root / path).lstat()
        if reason := _refusal(status, limits):
            return Skipped(path, reason)
        if known and (known.size, known.modified) == (status.st_size, status.st_mtime):
            return _source(path, status, known.blob, None)
        content = _read(root / path, limits.max_file_bytes)
    except FileNotFoundError:
        return None  # tracked but deleted, or gone since it was listed
    except OSError:
        return Skipped(path, "unreadable")
    if len(content) > limits.max_file_bytes:
        return Skipped(path, "too large")
    if is_binary(content):
        return Skipped(path, "binary")
    if is_secret_content(path, content):
        return Skipped(path, "secret")
    return _source(path, status, blob_of(content), content)


def checked(root: Path) -> Path:
    """The workspace as an absolute path; refused where it is no folder, or far too large a one."""
    try:
        resolved = root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InvalidInput(
            "workspace", f"{root} cannot be opened; name an existing folder"
        ) from error
    if not resolved.is_dir():
        raise InvalidInput("workspace", f"{root} is not a folder; name the project's folder")
    if resolved == Path(resolved.anchor) or resolved in _homes():
        raise InvalidInput(
            "workspace",
            f"{resolved} is the home folder or holds it; name one project's folder inside it",
        )
    return resolved


def _homes() -> set[Path]:
    """The home folder and every folder above it."""
    try:
        home = Path.home().resolve()
    except (OSError, RuntimeError):
        return set()
    return {home, *home.parents}


def _refusal(status: os.stat_result, limits: Limits) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "symlink"
    if not stat.S_ISREG(status.st_mode):
        return "not a file"
    return "too large" if status.st_size > limits.max_file_bytes else None


def _read(path: Path, most: int) -> bytes:
    """At most one byte more than allowed, never through a link, never waiting on a pipe."""
    with os.fdopen(os.open(path, _OPEN_FLAGS), "rb") as file:
        return file.read(most + 1)


def _source(path: str, status: os.stat_result, blob: str, content: bytes | None) -> SourceFile:
    language = language_of(path, content or b"")
    flags = flags_of(path, language, content or b"")
    return SourceFile(
        path=path,
        size=status.st_size if content is None else len(content),
        blob=blob,
        modified=status.st_mtime,
        language=language,
        is_test=flags.is_test,
        is_config=flags.is_config,
        is_docs=flags.is_docs,
        is_generated=flags.is_generated,
        is_vendored=flags.is_vendored,
        content=content,
    )


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
