"""What an index run has to do: the files that are there against the files that are indexed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from services.indexer.indexing.manifest import ManifestRow
from services.indexer.source.walk import SourceFile


@dataclass(frozen=True)
class Plan:
    """Every file once: to write (added or changed), to remove, or to leave.

    `touched` are unchanged files whose size or time must be remembered anew. `replacing` are the
    paths to write at which older points may stand.
    """

    added: tuple[SourceFile, ...]
    changed: tuple[SourceFile, ...]
    removed: tuple[str, ...]
    unchanged: tuple[SourceFile, ...]
    touched: tuple[SourceFile, ...]
    replacing: frozenset[str]

    @classmethod
    def nothing(cls) -> "Plan":
        return cls((), (), (), (), (), frozenset())

    @property
    def writes(self) -> tuple[SourceFile, ...]:
        return self.added + self.changed


def make_plan(
    found: Iterable[SourceFile],
    rows: Mapping[str, ManifestRow],
    *,
    scheme: int,
    doubtful: Collection[str] = (),
    subdir: str = "",
) -> Plan:
    """Compare what is there with what is indexed.

    `doubtful` are paths whose points are not what their row says, or that have points and no row.
    Only what lies under `subdir` can be removed: the rest was not looked at.
    """
    added, changed, unchanged, touched = [], [], [], []
    seen: set[str] = set()
    for file in found:
        seen.add(file.path)
        row = rows.get(file.path)
        if row is None:
            added.append(file)
        elif file.path in doubtful or not _is_current(file, row, scheme):
            changed.append(file)
        else:
            unchanged.append(file)
            if (file.size, file.modified) != (row.size, row.modified):
                touched.append(file)
    replacing = {file.path for file in changed} | {f.path for f in added if f.path in doubtful}
    gone = [path for path in {*rows, *doubtful} if path not in seen and is_under(path, subdir)]
    return Plan(
        added=tuple(added),
        changed=tuple(changed),
        removed=tuple(sorted(gone)),
        unchanged=tuple(unchanged),
        touched=tuple(touched),
        replacing=frozenset(replacing),
    )


def is_under(path: str, subdir: str) -> bool:
    """Whether a path lies in the folder; every path lies in the workspace itself."""
    return not subdir or path.startswith(f"{subdir}/")


def _is_current(file: SourceFile, row: ManifestRow, scheme: int) -> bool:
    return row.done and row.blob == file.blob and row.scheme == scheme
