"""The view of one call: the collection, repos, checkouts and paths that it is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ctx_core.vectors.queries import Filter
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.schema.fields import without_versions
from ctx_indexer.view.paths import Paths

ALL_REPOS = "*"


@dataclass(frozen=True)
class View:
    """The part of a collection that one call may see, resolved once and handed down.

    `repos` are the repos that the call is about, all where it is empty or holds `*`. Of each repo
    one checkout is meant; `hidden` are the file versions that these checkouts lack. `under` are the
    folders that the call is limited to, as its caller wrote them.
    """

    collection: str
    repos: tuple[str, ...] = ()
    checkouts: tuple[Checkout, ...] = ()
    hidden: tuple[int, ...] = ()
    paths: Paths = field(default_factory=Paths)
    under: tuple[str, ...] = ()

    @property
    def roots(self) -> Mapping[str, Path]:
        """The folder of each repo."""
        return self.paths.roots

    def shown(self, repo: str, path: str) -> str:
        """Return a repo's path as the caller knows it."""
        return self.paths.shown(repo, path)

    def narrowed(self, where: Filter | None = None) -> Filter | None:
        """Narrow a filter of the store to the file versions of these checkouts."""
        return without_versions(where, self.hidden)
