"""Finds the files of a workspace that differ from the manifest; the others are not read."""

import os
from collections.abc import Iterable
from pathlib import Path

from ctx_indexer.manifest.rows import ManifestRow
from ctx_indexer.schema.points import index_version
from ctx_indexer.source.listing import list_files
from ctx_indexer.source.walk import FileLimits, SkippedFile, inspect_file

Signature = tuple[int, float]
"""Size and time of a file."""
Signatures = dict[str, Signature]
OUTDATED: Signature = (-1, 0.0)  # of a file that must be indexed again


def recorded_signatures(rows: Iterable[ManifestRow]) -> Signatures:
    """Return the signature of each file of a checkout; OUTDATED where its version is."""
    return {row.path: (row.size, row.modified) if _is_current(row) else OUTDATED for row in rows}


def changed_paths(
    root: Path, limits: FileLimits, recorded: Signatures, skipped: Signatures
) -> set[str]:
    """Return the paths of files that were added, changed or removed since recorded. Blocks.

    `skipped` has the signatures of files that are never indexed, such as binary ones; this adds
    new ones to it, and takes out files that are gone.
    """
    current = _signatures(root)
    for path in skipped.keys() - current.keys():
        del skipped[path]
    changed = recorded.keys() - current.keys()
    for path, signature in current.items() - recorded.items() - skipped.items():
        if path in recorded or not _skips(root, path, limits):
            changed.add(path)
        else:
            skipped[path] = signature
    return changed


def _signatures(root: Path) -> Signatures:
    """Return the signature of each file that is listed and exists."""
    found: Signatures = {}
    start = f"{root}{os.sep}"
    for raw in list_files(root):
        # Folders above may be links here; a path that has changed is then read without links.
        try:
            path = raw.decode("utf-8")
            status = os.lstat(start + path)
        except (OSError, UnicodeDecodeError):
            continue  # gone, or never indexed
        found[path.replace(os.sep, "/")] = (status.st_size, status.st_mtime)
    return found


def _skips(root: Path, path: str, limits: FileLimits) -> bool:
    return isinstance(inspect_file(root, path, limits), SkippedFile | None)


def _is_current(row: ManifestRow) -> bool:
    return row.done and row.index_version == index_version(row.language)
