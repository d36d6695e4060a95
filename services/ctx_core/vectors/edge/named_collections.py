"""The collections of the embedded store: a folder each, under the names that aliases give them."""

import logging
import shutil
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from uuid import uuid4

from ctx_core.blocking import DISK
from ctx_core.errors import CollectionNotFound, StorageFailed
from ctx_core.vectors.edge.aliases import read_aliases, with_lost_names, write_aliases
from ctx_core.vectors.edge.collection import EdgeCollection, broken_info
from ctx_core.vectors.edge.shard import is_unfinished
from ctx_core.vectors.generations import is_generation, logical_name
from ctx_core.vectors.spec_check import rebuild_command
from ctx_core.vectors.specs import CollectionInfo, CollectionSpec

log = logging.getLogger(__name__)

COLLECTIONS_FOLDER = "collections"
# A folder of this prefix is being deleted; the next start deletes the rest of one after a crash.
DELETED_PREFIX = ".deleted-"


class NamedCollections:
    """The physical collections of a folder, open or broken.

    A collection that was rebuilt has an alias: `code` → `code@1f0c9a2b`, the name of its folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._home = folder / COLLECTIONS_FOLDER
        self._open: dict[str, EdgeCollection] = {}  # by physical name, as are the broken ones
        self._broken: dict[str, CollectionInfo] = {}
        self._aliases: dict[str, str] = {}

    def load(self) -> None:
        """Open every collection; delete the leftovers of a crash. One that fails is broken."""
        self._home.mkdir(exist_ok=True)
        self._aliases = with_lost_names(self._folder, self._home, read_aliases(self._folder))
        for folder in sorted(self._home.iterdir()):
            is_deleted = folder.name.startswith(DELETED_PREFIX)
            if is_deleted or not self.is_current(folder.name) or is_unfinished(folder):
                shutil.rmtree(folder, ignore_errors=True)
                continue
            started = time.monotonic()
            try:
                self._open[folder.name] = EdgeCollection.load(folder)
            except StorageFailed as error:
                log.error("collection %s could not be loaded: %s", folder.name, error)
                self._broken[folder.name] = broken_info(folder, error.message)
            else:
                seconds = time.monotonic() - started
                log.info("collection %s loaded in %.1f s", folder.name, seconds)

    def close(self) -> None:
        """Flush and close every collection; a failed flush is logged, the others are closed."""
        for collection in self._open.values():
            try:
                collection.close()
            except StorageFailed as error:
                log.error("%s", error)
        self._open = {}

    def opened(self) -> Collection[EdgeCollection]:
        return self._open.values()

    def __contains__(self, name: str) -> bool:
        physical = self.physical(name)
        return physical in self._open or physical in self._broken

    def get(self, name: str) -> EdgeCollection:
        """Return a collection. Raises CollectionNotFound, or StorageFailed for a broken one."""
        if found := self._open.get(self.physical(name)):
            return found
        if broken := self._broken.get(self.physical(name)):
            command = rebuild_command(name, broken.spec)
            delete = f"delete {self.path(self.physical(name))} and index or store again"
            raise StorageFailed(
                f"collection {name} could not be loaded: {broken.optimizer_status}; "
                + (f"rebuild it with: {command}" if command else delete),
                collection=name,
            )
        raise CollectionNotFound(f"there is no collection {name!r}", collection=name)

    def infos(self) -> Sequence[CollectionInfo]:
        """Describe the collections by name, without replacements that are being built."""
        whole = [each.examined() for key, each in self._open.items() if self.is_current(key)]
        broken = [info for key, info in self._broken.items() if self.is_current(key)]
        return sorted([*whole, *broken], key=lambda info: info.name)

    def probe(self) -> None:
        """Read some points of every collection. Raises StorageFailed where one is damaged."""
        for collection in self._open.values():
            collection.probe()
        for broken in self._broken.values():
            self.get(broken.name)

    def points_count(self) -> int:
        return sum(collection.points_count for collection in self._open.values())

    def create(self, physical: str, spec: CollectionSpec) -> None:
        self._open[physical] = EdgeCollection.create(self.path(physical), spec)

    async def delete(self, name: str) -> bool:
        """Delete a collection and its alias; whether there was one."""
        deleted = await self.discard(self.physical(name))
        if name in self._aliases:
            self._set_aliases({key: value for key, value in self._aliases.items() if key != name})
        return deleted

    async def discard(self, physical: str) -> bool:
        """Delete a physical collection; whether there was one."""
        if physical not in self._open and physical not in self._broken:
            return False
        self._broken.pop(physical, None)
        if collection := self._open.pop(physical, None):
            collection.abandon()
        deleted = self._home / f"{DELETED_PREFIX}{uuid4()}"
        self.path(physical).rename(deleted)
        await DISK.run(shutil.rmtree, deleted, ignore_errors=True)
        return True

    async def swap(self, name: str, built: str) -> None:
        """Let a name mean a built collection, and delete the one that it meant before."""
        replaced = self.physical(name)
        self._set_aliases(self._aliases | {name: built})
        await self.discard(replaced)

    async def swap_copy(self, copy: EdgeCollection) -> None:
        """Put a copy of a collection, in a folder of its own, in the collection's place."""
        self._open[copy.folder.name] = copy
        await self.swap(copy.name, copy.folder.name)

    def path(self, physical: str) -> Path:
        return self._home / physical

    def physical(self, name: str) -> str:
        """Return the folder's name of a collection: `code` → `code@1f0c9a2b` after a rebuild."""
        return self._aliases.get(name, name)

    def is_current(self, physical: str) -> bool:
        """Whether a physical collection is the one that its name means."""
        return self.physical(logical_name(physical)) == physical

    def replacements(self, name: str) -> list[str]:
        """Return the physical collections that are being built for a name."""
        known = [each for each in self._open if is_generation(each, name)]
        return [each for each in known if not self.is_current(each)]

    def _set_aliases(self, aliases: dict[str, str]) -> None:
        write_aliases(self._folder, aliases)
        self._aliases = aliases
