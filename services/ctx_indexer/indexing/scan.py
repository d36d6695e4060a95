"""Scans a workspace before a run plans its work."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ctx_indexer.manifest.rows import ManifestRow
from ctx_indexer.source.walk import FileLimits, KnownFile, SkippedFile, SourceFile, walk

# Contents read for their hash are kept for the workers up to this size, and read again beyond: from
# the system's cache, and the memory of a run does not grow with its files.
MAX_KEPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Scan:
    """The files to index, and how many were skipped for each reason."""

    files: tuple[SourceFile, ...]
    skipped: Mapping[str, int]


def scan(
    root: Path,
    under: str,
    limits: FileLimits,
    rows: Mapping[str, ManifestRow],
    paths: Collection[str] | None = None,
) -> Scan:
    """Inspect the files in a folder of a workspace; unchanged ones are not read. Blocks.

    `paths` narrows the scan to files and folders, and every one of them is read.
    """
    known = {
        path: KnownFile(row.size, row.modified, row.blob)
        for path, row in rows.items()
        if row.done and paths is None  # a named path is read: something happened to it
    }
    files: list[SourceFile] = []
    skipped: Counter[str] = Counter()
    kept_bytes = 0
    for file in walk(root, limits, known, under=under, paths=paths):
        if isinstance(file, SkippedFile):
            skipped[file.reason] += 1
            continue
        kept_bytes += len(file.content or b"")
        files.append(file if kept_bytes <= MAX_KEPT_BYTES else replace(file, content=None))
    return Scan(tuple(files), dict(skipped))
