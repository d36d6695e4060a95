"""The checkouts of a collection: which there are, which one is meant, which versions each lacks."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

from ctx_core.access.access import current
from ctx_core.blocking import DISK
from ctx_core.errors import InvalidInput
from ctx_indexer.indexing.changes import Signatures, recorded_signatures
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import FileVersion
from ctx_indexer.schema.fields import version_id

MAX_CACHED = 256  # checkouts; each has a few dozen numbers
# Versions that a search may have to exclude: each query of the store sends them all, and a server
# reads 4,000 numbers in a few milliseconds.
MAX_HIDDEN = 4_000


class Diverged(Exception):
    """A checkout differs from the others of its repo in more than MAX_HIDDEN file versions."""


class IndexedCheckouts:
    """Lists the checkouts of collections, and the file versions that each lacks.

    Hidden versions and signatures are kept until the manifest changes.
    """

    def __init__(self, manifest: Manifest, store_key: str) -> None:
        """`store_key` names the Qdrant in the manifest."""
        self._manifest = manifest
        self._store_key = store_key
        self.listings = 0  # since the start, for the metrics
        self._stamp: tuple[int, int] | None = None
        self._hidden: dict[int, tuple[int, ...]] = {}
        self._signatures: dict[int, Signatures] = {}

    async def of(self, collection: str) -> list[Checkout]:
        """Return the checkouts whose files a collection holds, by repo, the main one first.

        A checkout without a folder is left out where its repo has another one, and so are repos
        that the running call may not reach.
        """
        self.listings += 1
        every = await self._every(collection)
        found = [each for each in every if current().reaches_repo(collection, each.repo)]
        gone = await _gone(found)
        return [each for each in found if each not in gone]

    async def gone(self, collection: str) -> set[Checkout]:
        """Return the checkouts of a collection without a folder; never the only one of a repo."""
        return await _gone(
            await self._manifest.checkouts.of_collection(self._store_key, collection)
        )

    async def at(self, collection: str, root: Path) -> list[Checkout]:
        """Return the checkouts of one folder, reached by the running call or not."""
        return [each for each in await self._every(collection) if each.root == root]

    async def hidden(self, checkouts: Iterable[Checkout]) -> tuple[int, ...]:
        """Return the file versions that no search in these checkouts may see."""
        return tuple([number for each in checkouts for number in await self._lacking(each)])

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

    async def _every(self, collection: str) -> list[Checkout]:
        return await self._manifest.checkouts.of_collection(self._store_key, collection)

    async def _lacking(self, checkout: Checkout) -> tuple[int, ...]:
        """Return the numbers of the versions that a checkout does not have; few, or none."""
        stamp = await self._current()
        found = self._hidden.get(checkout.id)
        if found is None:
            versions = await self._manifest.files.hidden(checkout)
            found = tuple(version_id(checkout.repo, *version) for version in versions)
            if stamp == self._stamp:
                self._hidden[checkout.id] = found
        return found

    async def _current(self) -> tuple[int, int]:
        """Forget everything that was read before the manifest changed; return its stamp."""
        stamp = await self._manifest.stamp()
        if stamp != self._stamp or len(self._hidden) > MAX_CACHED:
            self._stamp, self._hidden, self._signatures = stamp, {}, {}
        return stamp


def choose_checkouts(
    checkouts: Sequence[Checkout], workspace: Path | None, places: Sequence[Path] = ()
) -> list[Checkout]:
    """Choose one checkout a repo: by the places that a caller names, else by the workspace.

    A repo that neither tells keeps its first checkout, the main one. Raises InvalidInput for places
    in two checkouts of one repo.
    """
    named: dict[str, Checkout] = {}
    for place in places:
        found = _around(checkouts, place)
        if found is None:
            continue
        if named.setdefault(found.repo, found) != found:
            raise InvalidInput(
                "under",
                f"{named[found.repo].root} and {found.root} are two checkouts of {found.repo}: "
                "search one at a time",
            )
    chosen: dict[str, Checkout] = {}
    for each in sorted(checkouts, key=lambda each: _distance(each.root, workspace)):
        chosen.setdefault(each.repo, named.get(each.repo, each))
    return sorted(chosen.values(), key=lambda each: each.repo)


def check_divergence(own: Set[FileVersion], others: Set[FileVersion]) -> None:
    """Raise Diverged where a checkout and the others of its repo have too little in common."""
    if others and max(len(own - others), len(others - own)) > MAX_HIDDEN:
        raise Diverged


async def _gone(checkouts: Sequence[Checkout]) -> set[Checkout]:
    """Return the checkouts whose folder is gone; never the only one of a repo."""
    number = Counter(each.key for each in checkouts)
    several = [each for each in checkouts if number[each.key] > 1]
    if not several:
        return set()
    gone = set(await DISK.run(_without_folder, several))
    left = {each.key for each in several if each not in gone}
    return {each for each in gone if each.key in left}


def _without_folder(checkouts: Sequence[Checkout]) -> list[Checkout]:
    return [each for each in checkouts if not each.root.is_dir()]


def _around(checkouts: Sequence[Checkout], place: Path) -> Checkout | None:
    """Return the innermost checkout that holds a place."""
    holding = [each for each in checkouts if place.is_relative_to(each.root)]
    return max(holding, key=lambda each: len(each.root.parts), default=None)


def _distance(root: Path, workspace: Path | None) -> tuple[int, int]:
    """Order roots: the nearest around the workspace, those inside it, those elsewhere."""
    if workspace is None:
        return 0, 0
    if workspace.is_relative_to(root):
        return 0, len(workspace.parts) - len(root.parts)
    return (1, 0) if root.is_relative_to(workspace) else (2, 0)
