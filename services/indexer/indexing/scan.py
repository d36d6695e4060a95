"""One look over a workspace before anything is decided."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from services.indexer.indexing.manifest import ManifestRow
from services.indexer.indexing.plan import is_under
from services.indexer.source.listing import listing
from services.indexer.source.walk import Known, Limits, Skipped, SourceFile, checked, look, walk

# Contents that were read for their hash are kept for the workers up to this, and read again beyond.
KEPT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Scan:
    """The files to index, and how many were skipped for which reason."""

    files: tuple[SourceFile, ...]
    skipped: Mapping[str, int]


def scan(root: Path, subdir: str, limits: Limits, rows: Mapping[str, ManifestRow]) -> Scan:
    """Look at every file; those that are as their rows say are not read. Blocking."""
    known = {
        path: Known(row.size, row.modified, row.blob) for path, row in rows.items() if row.done
    }
    files: list[SourceFile] = []
    skipped: Counter[str] = Counter()
    kept = 0
    for found in _found(root, subdir, limits, known):
        if isinstance(found, Skipped):
            skipped[found.reason] += 1
            continue
        kept += len(found.content or b"")
        files.append(found if kept <= KEPT_BYTES else replace(found, content=None))
    return Scan(tuple(files), dict(skipped))


def _found(
    root: Path, subdir: str, limits: Limits, known: Mapping[str, Known]
) -> Iterator[SourceFile | Skipped]:
    if not subdir:
        yield from walk(root, limits, known)
        return
    root = checked(root)
    for raw in sorted(listing(root)):
        path = raw.decode("utf-8", "replace")
        if is_under(path, subdir) and (found := look(root, path, limits, known.get(path))):
            yield found
