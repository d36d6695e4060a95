"""The rows of the manifest: keys of repos, file versions, the files of a checkout."""

from dataclasses import dataclass
from typing import NamedTuple

from ctx_indexer.manifest.tables import DONE


@dataclass(frozen=True)
class RepoKey:
    """The key of a repo's versions: its Qdrant, its collection there, and its name."""

    store: str
    collection: str
    repo: str

    @property
    def columns(self) -> tuple[str, str, str]:
        return self.store, self.collection, self.repo


class FileVersion(NamedTuple):
    """One content of a path; points are made of it."""

    path: str
    blob: str


@dataclass(frozen=True)
class VersionRow:
    """A file version as it was indexed. Unless its status is `done`, points may be missing."""

    path: str
    blob: str
    chunks: int
    language: str
    index_version: int
    status: str = DONE

    @property
    def version(self) -> FileVersion:
        return FileVersion(self.path, self.blob)

    @property
    def done(self) -> bool:
        return self.status == DONE


@dataclass(frozen=True)
class CheckoutFile:
    """A file of a checkout: its version, and the size and time that tell a change."""

    path: str
    blob: str
    size: int
    modified: float


@dataclass(frozen=True)
class ManifestRow:
    """A file of a checkout with the row of its version."""

    path: str
    blob: str
    size: int
    modified: float
    chunks: int
    language: str
    index_version: int
    status: str = DONE

    @property
    def done(self) -> bool:
        return self.status == DONE
