"""The texts and outlines of workspace files as they are on disk, in bounded caches."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from ctx_core.bounded_cache import BoundedCache
from ctx_core.secrets.redaction import redact
from ctx_indexer.source.content import decode
from ctx_indexer.source.walk import FileLimits, SourceFile, inspect_file
from ctx_indexer.syntax.lines import normalise
from ctx_indexer.syntax.outline import Outline, outline

MAX_TEXT_BYTES = 96 * 1024 * 1024  # of all cached texts; Django's sources are a third of it
MAX_REDACTED = 20_000  # texts without secrets; most are the very text that is cached anyway
MAX_OUTLINES = 500  # outlines of about 30 KB each
Stamp = tuple[int, float]  # a file's size and time


@dataclass(frozen=True)
class FileText:
    """A file's text in UTF-8 with plain line ends, and the file's size, time and hash then.

    It may hold secrets: FileTexts.redacted gives the text that may be shown.
    """

    data: bytes
    language: str
    stamp: Stamp
    blob: str

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def rows(self) -> list[str]:
        """Return the lines without their ends."""
        return self.text.removesuffix("\n").split("\n") if self.data else []


class FileTexts:
    """Reads files of a workspace; a file whose size and time did not change is read once.

    May be used by several threads. Files that are never indexed (secrets, binaries, links, files
    outside) have no text here either.
    """

    def __init__(self, limits: FileLimits | None = None) -> None:
        self._limits = limits or FileLimits()
        self._texts = BoundedCache[FileText](MAX_TEXT_BYTES, lambda file: len(file.data))
        self._redacted = BoundedCache[FileText](MAX_REDACTED, lambda _: 1)
        self._outlines = BoundedCache[tuple[Stamp, Outline]](MAX_OUTLINES, lambda _: 1)

    def read(self, root: Path, path: str) -> FileText | None:
        """Return the text of a file; None where there is none that may be read. Blocks."""
        key = f"{root}/{path}"
        try:
            status = os.lstat(key)
        except (OSError, ValueError):
            self._texts.drop(key)
            return None
        known = self._texts.get(key)
        if known is not None and known.stamp == (status.st_size, status.st_mtime):
            return known
        file = inspect_file(root, path, self._limits)
        if not isinstance(file, SourceFile) or file.content is None:
            self._texts.drop(key)
            return None
        text = normalise(decode(file.content))
        stamp = (file.size, file.modified)
        found = FileText(text.encode("utf-8", "replace"), file.language, stamp, file.blob)
        self._texts.put(key, found)
        return found

    def read_redacted(self, root: Path, path: str) -> FileText | None:
        """Return the text of a file without its secrets; None as `read`. Blocks."""
        file = self.read(root, path)
        return file and self.redacted(root, path, file)

    def redacted(self, root: Path, path: str, file: FileText) -> FileText:
        """Return a text without its secrets; every line keeps its number. Blocks."""
        key = f"{root}/{path}"
        known = self._redacted.get(key)
        if known is not None and known.stamp == file.stamp:
            return known
        redaction = redact(file.text, path)
        visible = replace(file, data=redaction.text.encode()) if redaction.kinds else file
        self._redacted.put(key, visible)
        return visible

    def outline(self, root: Path, path: str, file: FileText) -> Outline:
        """Return the outline of a text. Blocks while it is parsed."""
        key = f"{root}/{path}"
        known = self._outlines.get(key)
        if known is not None and known[0] == file.stamp:
            return known[1]
        parsed = outline(file.text, file.language)
        self._outlines.put(key, (file.stamp, parsed))
        return parsed
