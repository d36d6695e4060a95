"""Plans an index run: the files of the workspace against the rows of the manifest."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from services.indexer.indexing.manifest import ManifestRow
from services.indexer.source.walk import SourceFile, is_under


@dataclass(frozen=True)
class Plan:
    """Each file once: to write (added or changed), to remove, or to leave.

    `touched` are unchanged files with a new size or time to record. `replaced` are the paths to
    write that may have older points.
    """

    added: tuple[SourceFile, ...]
    changed: tuple[SourceFile, ...]
    removed: tuple[str, ...]
    unchanged: tuple[SourceFile, ...]
    touched: tuple[SourceFile, ...]
    replaced: frozenset[str]

    @property
    def writes(self) -> tuple[SourceFile, ...]:
        return self.added + self.changed

    def without_writes(self) -> "Plan":
        """Return what is left to do after the files are written."""
        return replace(self, added=(), changed=(), unchanged=())


def make_plan(
    files: Iterable[SourceFile],
    rows: Mapping[str, ManifestRow],
    *,
    index_version: int,
    stale: Collection[str] = (),
    under: str = "",
) -> Plan:
    """Compare the scanned files with the rows.

    `stale` are paths whose points differ from their row, or that have points and no row. Only
    paths in the folder `under` are removed: others were not scanned.
    """
    added, changed, unchanged, touched = [], [], [], []
    scanned: set[str] = set()
    for file in files:
        scanned.add(file.path)
        row = rows.get(file.path)
        if row is None:
            added.append(file)
        elif file.path in stale or not _is_current(file, row, index_version):
            changed.append(file)
        else:
            unchanged.append(file)
            if (file.size, file.modified) != (row.size, row.modified):
                touched.append(file)
    replaced = {file.path for file in changed} | {f.path for f in added if f.path in stale}
    gone = [path for path in {*rows, *stale} if path not in scanned and is_under(path, under)]
    return Plan(
        added=tuple(added),
        changed=tuple(changed),
        removed=tuple(sorted(gone)),
        unchanged=tuple(unchanged),
        touched=tuple(touched),
        replaced=frozenset(replaced),
    )


def _is_current(file: SourceFile, row: ManifestRow, index_version: int) -> bool:
    return row.done and row.blob == file.blob and row.index_version == index_version
