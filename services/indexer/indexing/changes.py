"""Finds the files of a workspace that differ from the manifest; those that do not are not read."""

import os
from collections.abc import Mapping
from pathlib import Path

from services.indexer.indexing.rows import ManifestRow
from services.indexer.schema.points import INDEX_VERSION
from services.indexer.source.listing import list_files
from services.indexer.source.walk import FileLimits, SkippedFile, inspect_file

Signature = tuple[int, float]
"""Size and time of a file."""
Signatures = dict[str, Signature]


def changed_paths(
    root: Path, limits: FileLimits, rows: Mapping[str, ManifestRow], skipped: Signatures
) -> set[str]:
    """Return the paths of files that were added, changed or removed since their rows. Blocks.

    `skipped` has the files that are not indexed, as they were when that was found out; what is
    found now is added, and what is gone removed.
    """
    current = _signatures(root)
    for path in skipped.keys() - current.keys():
        del skipped[path]
    changed = rows.keys() - current.keys()
    for path, signature in current.items():
        row = rows.get(path)
        if row is None:
            if skipped.get(path) != signature and not _skips(root, path, limits):
                changed.add(path)
            elif skipped.get(path) != signature:
                skipped[path] = signature
        elif not _is_as_recorded(row, signature):
            changed.add(path)
    return changed


def _signatures(root: Path) -> Signatures:
    """Return the signature of each file that is listed and exists."""
    found: Signatures = {}
    start = f"{root}{os.sep}"
    for raw in list_files(root):
        # Folders above may be links here: what is said to have changed is read without them.
        try:
            path = raw.decode("utf-8")
            status = os.lstat(start + path)
        except (OSError, UnicodeDecodeError):
            continue  # gone, or never indexed
        found[path.replace(os.sep, "/")] = (status.st_size, status.st_mtime)
    return found


def _skips(root: Path, path: str, limits: FileLimits) -> bool:
    return isinstance(inspect_file(root, path, limits), SkippedFile | None)


def _is_as_recorded(row: ManifestRow, signature: Signature) -> bool:
    return row.done and row.index_version == INDEX_VERSION and (row.size, row.modified) == signature
