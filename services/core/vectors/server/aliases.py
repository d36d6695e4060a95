"""Which collection of a Qdrant server stands behind which name, as its aliases say."""

import time
from dataclasses import dataclass

from qdrant_client import AsyncQdrantClient, models

from services.core.vectors import generations

# The alias that says what stands behind a name. Not the name itself: a server takes no alias that
# is called as a collection is, so a first swap would leave a moment without either.
LIVE = f"{generations.MARK}live"
# Another process may put something else behind a name, and mostly what stood there is then gone,
# which is noticed at once. Where it is not, because that process died, it is noticed after this.
KNOWN_SECONDS = 60.0


@dataclass(frozen=True)
class Shown:
    """What a server holds: its collections, and its aliases with what they stand for."""

    collections: frozenset[str]
    aliases: dict[str, str]

    def behind(self, name: str) -> str:
        return self.aliases.get(name + LIVE, name)

    def names(self) -> dict[str, str]:
        """Name → collection, without what is being built or was left behind."""
        known = {each: generations.logical(each) for each in self.collections}
        return {name: each for each, name in known.items() if self.behind(name) == each}

    def hidden(self, name: str) -> list[str]:
        """What was built for the name, or stood behind it, and does not now."""
        of_it = {each for each in self.collections if generations.logical(each) == name}
        return sorted(of_it - {self.behind(name)})


class ServerNames:
    """Names that were asked for are remembered for a while."""

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client
        self._known: dict[str, tuple[str, float]] = {}

    async def resolve(self, name: str) -> str:
        physical, until = self._known.get(name, (name, 0.0))
        if time.monotonic() < until or generations.logical(name) != name:
            return physical
        aliases = _by_alias(await self._client.get_aliases())
        return self.learn(name, aliases.get(name + LIVE, name))

    def learn(self, name: str, physical: str) -> str:
        self._known[name] = physical, time.monotonic() + KNOWN_SECONDS
        return physical

    def forget(self, name: str) -> None:
        self._known.pop(name, None)

    async def look(self) -> Shown:
        found = await self._client.get_collections()
        aliases = _by_alias(await self._client.get_aliases())
        return Shown(frozenset(each.name for each in found.collections), aliases)

    async def put(self, name: str, physical: str) -> None:
        """One request, so that there is no moment in which nothing stands behind the name."""
        alias = name + LIVE
        changes: list[models.CreateAliasOperation | models.DeleteAliasOperation] = []
        if alias in _by_alias(await self._client.get_aliases()):
            gone = models.DeleteAlias(alias_name=alias)
            changes.append(models.DeleteAliasOperation(delete_alias=gone))
        now = models.CreateAlias(collection_name=physical, alias_name=alias)
        changes.append(models.CreateAliasOperation(create_alias=now))
        await self._client.update_collection_aliases(changes)
        self.learn(name, physical)


def _by_alias(found: models.CollectionsAliasesResponse) -> dict[str, str]:
    return {each.alias_name: each.collection_name for each in found.aliases}
