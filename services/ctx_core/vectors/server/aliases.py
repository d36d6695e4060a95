"""The aliases of a Qdrant server: collection name → physical collection."""

import time
from dataclasses import dataclass

from qdrant_client import AsyncQdrantClient, models

from ctx_core.vectors.generations import MARK, logical_name

# The alias of NAME is NAME@live. Not NAME itself: a server refuses an alias with the name of a
# collection, so the first swap would leave a moment without either.
LIVE = f"{MARK}live"
# How long a physical name is cached. Another process that swaps mostly deletes the old collection,
# which the next call notices; where it died before that, the cache notices after this time.
CACHE_SECONDS = 60.0
# Names cached: a caller may ask for any number that do not exist. The oldest is dropped.
MAX_NAMES = 1_000


@dataclass(frozen=True)
class Listing:
    """The physical collections and aliases of a server."""

    collections: frozenset[str]
    aliases: dict[str, str]

    def physical(self, name: str) -> str:
        """Return the physical collection of a name."""
        return self.aliases.get(name + LIVE, name)

    def current(self) -> dict[str, str]:
        """Return name → physical collection, without replacements and leftovers."""
        names = {each: logical_name(each) for each in self.collections}
        return {name: each for each, name in names.items() if self.physical(name) == each}

    def others(self, name: str) -> list[str]:
        """Return the physical collections of a name that are not the current one."""
        same_name = {each for each in self.collections if logical_name(each) == name}
        return sorted(same_name - {self.physical(name)})


class AliasResolver:
    """Resolves collection names by the server's aliases, with a cache."""

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client
        self._cache: dict[str, tuple[str, float]] = {}

    async def resolve(self, name: str) -> str:
        """Return the physical collection of a name, from the cache where it is fresh."""
        physical, expires = self._cache.get(name, (name, 0.0))
        if time.monotonic() < expires or logical_name(name) != name:
            return physical
        aliases = _by_alias(await self._client.get_aliases())
        return self.remember(name, aliases.get(name + LIVE, name))

    def remember(self, name: str, physical: str) -> str:
        """Put a name into the cache."""
        self._cache.pop(name, None)
        self._cache[name] = physical, time.monotonic() + CACHE_SECONDS
        if len(self._cache) > MAX_NAMES:
            del self._cache[next(iter(self._cache))]
        return physical

    def forget(self, name: str) -> None:
        """Remove a name from the cache."""
        self._cache.pop(name, None)

    async def list(self) -> Listing:
        """Ask the server for its collections and aliases."""
        response = await self._client.get_collections()
        aliases = _by_alias(await self._client.get_aliases())
        return Listing(frozenset(each.name for each in response.collections), aliases)

    async def set_alias(self, name: str, physical: str) -> None:
        """Point a name to a physical collection, in one request: there is no moment without one."""
        alias = name + LIVE
        changes: list[models.CreateAliasOperation | models.DeleteAliasOperation] = []
        if alias in _by_alias(await self._client.get_aliases()):
            old = models.DeleteAlias(alias_name=alias)
            changes.append(models.DeleteAliasOperation(delete_alias=old))
        new = models.CreateAlias(collection_name=physical, alias_name=alias)
        changes.append(models.CreateAliasOperation(create_alias=new))
        await self._client.update_collection_aliases(changes)
        self.remember(name, physical)


def _by_alias(response: models.CollectionsAliasesResponse) -> dict[str, str]:
    return {each.alias_name: each.collection_name for each in response.aliases}
