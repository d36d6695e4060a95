"""Plans an index run: the files of a checkout against the rows of the manifest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ctx_indexer.indexing.verify import Mismatch
from ctx_indexer.manifest.rows import FileVersion, ManifestRow, VersionRow
from ctx_indexer.schema.points import index_version
from ctx_indexer.source.walk import SourceFile, is_under

NO_VERSIONS: Mapping[FileVersion, VersionRow] = {}
NO_MISMATCH = Mismatch()


@dataclass(frozen=True)
class Plan:
    """Each file once: to write, shared, unchanged, or to remove.

    `shared` are files whose version has points already, because another checkout has it.
    `touched` are unchanged files with a new size or time to record. `replaced` are the paths to
    write that may have older points under the same version, or orphaned ones. `added` are the paths
    that the checkout did not have.
    """

    writes: tuple[SourceFile, ...]
    shared: tuple[SourceFile, ...]
    unchanged: tuple[SourceFile, ...]
    touched: tuple[SourceFile, ...]
    removed: tuple[str, ...]
    replaced: frozenset[str]
    added: frozenset[str]

    @property
    def changed(self) -> int:
        """The files that the checkout had with another content, or whose points are incomplete."""
        return len(self.writes) + len(self.shared) - len(self.added)

    def without_writes(self) -> "Plan":
        """Return the plan of the rest, after the files are written."""
        return replace(self, writes=(), unchanged=())


def make_plan(
    files: Iterable[SourceFile],
    rows: Mapping[str, ManifestRow],
    versions: Mapping[FileVersion, VersionRow] = NO_VERSIONS,
    *,
    mismatch: Mismatch = NO_MISMATCH,
    under: str = "",
) -> Plan:
    """Compare the scanned files with the rows of their checkout and the versions of their repo.

    Only paths in the folder `under` are removed: others were not scanned.
    """
    writes, shared, unchanged, touched = [], [], [], []
    added: set[str] = set()
    scanned: set[str] = set()
    for file in files:
        scanned.add(file.path)
        version = FileVersion(file.path, file.blob)
        row = rows.get(file.path)
        if row is None:
            added.add(file.path)
        if not _is_current(versions.get(version), file, mismatch):
            writes.append(file)
        elif row is None or row.blob != file.blob:
            shared.append(file)
        else:
            unchanged.append(file)
            if (file.size, file.modified) != (row.size, row.modified):
                touched.append(file)
    replaced = {
        file.path
        for file in writes
        if file.path in mismatch.orphans or FileVersion(file.path, file.blob) in versions
    }
    known = {*rows, *mismatch.orphans}
    gone = [path for path in known if path not in scanned and is_under(path, under)]
    return Plan(
        writes=tuple(writes),
        shared=tuple(shared),
        unchanged=tuple(unchanged),
        touched=tuple(touched),
        removed=tuple(sorted(gone)),
        replaced=frozenset(replaced),
        added=frozenset(added),
    )


def _is_current(row: VersionRow | None, file: SourceFile, mismatch: Mismatch) -> bool:
    return (
        row is not None
        and row.done
        and row.index_version == index_version(file.language)
        and row.version not in mismatch.lost
    )
