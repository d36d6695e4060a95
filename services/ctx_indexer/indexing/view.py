"""The view of a checkout: which points of its repo belong to other checkouts alone."""

from collections.abc import Set

from ctx_core.blocking import DISK
from ctx_indexer.indexing.changes import Signatures, recorded_signatures
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import FileVersion
from ctx_indexer.schema.versions import version_id

MAX_CACHED = 256  # checkouts; each has a few dozen numbers
# Versions that a search may have to exclude: each query of the store sends them all, and a server
# reads 4,000 numbers in a few milliseconds.
MAX_HIDDEN = 4_000


class Diverged(Exception):
    """A checkout differs from the others of its repo in more than MAX_HIDDEN file versions."""


def check_divergence(own: Set[FileVersion], others: Set[FileVersion]) -> None:
    """Raise Diverged where a checkout and the others of its repo have too little in common."""
    if others and max(len(own - others), len(others - own)) > MAX_HIDDEN:
        raise Diverged


class Views:
    """What searches and checks of a checkout ask for often, kept until the manifest changes."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._stamp: tuple[int, int] | None = None
        self._hidden: dict[int, tuple[int, ...]] = {}
        self._signatures: dict[int, Signatures] = {}

    async def signatures(self, checkout: Checkout) -> Signatures:
        """Return the sizes and times of the files of a checkout, as they were indexed."""
        stamp = await self._current()
        found = self._signatures.get(checkout.id)
        if found is None:
            rows = await self._manifest.files.of(checkout)
            found = await DISK.run(recorded_signatures, rows.values())
            if stamp == self._stamp:
                self._signatures[checkout.id] = found
        return found

    async def _current(self) -> tuple[int, int]:
        """Forget what was read before the manifest changed; return its stamp."""
        stamp = await self._manifest.stamp()
        if stamp != self._stamp or len(self._hidden) > MAX_CACHED:
            self._stamp, self._hidden, self._signatures = stamp, {}, {}
        return stamp

    async def hidden(self, checkout: Checkout) -> tuple[int, ...]:
        """Return the numbers of the versions that a checkout does not have; few, or none."""
        stamp = await self._current()
        found = self._hidden.get(checkout.id)
        if found is None:
            versions = await self._manifest.files.hidden(checkout)
            found = tuple(version_id(checkout.repo, *version) for version in versions)
            if stamp == self._stamp:
                self._hidden[checkout.id] = found
        return found
