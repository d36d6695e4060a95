"""The parts and defaults that the indexer's tools share."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ctx_core.access.access import current
from ctx_core.errors import InvalidInput
from ctx_core.serving.sessions import COLLECTION_PATTERN, SessionDefaults
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.types import Filter
from ctx_indexer.indexing.checkouts import choose_checkouts
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.lookup.scope import PathScope
from ctx_indexer.schema.points import holds_code
from ctx_indexer.schema.versions import without_versions
from ctx_indexer.search.snippet import DEFAULT_WINDOW, WindowSize
from ctx_indexer.source.workspace import WorkspacePath, Workspaces
from ctx_indexer.watch.watch import Watch

CollectionArgument = Annotated[
    str | None,
    Field(description="Collection instead of the default one.", pattern=COLLECTION_PATTERN),
]


@contextlib.contextmanager
def hiding_folders() -> Iterator[None]:
    """Refuse every wrong folder alike to a limited caller, who may not learn which ones exist."""
    try:
        yield
    except InvalidInput:
        if current().limits is None:
            raise
        raise current().refusal("this folder is not among what the token reaches") from None


@dataclass(frozen=True)
class InfoDefaults:
    """What `info_request` does where a call does not say."""

    limit: int = 10
    context_lines: int = 5
    explains: bool = False
    relationships: bool = False


@dataclass(frozen=True)
class IndexerContext:
    """The indexer, the store and the defaults of a server's tools.

    Searches that name no repo are limited to `default_repo`; without one, and with
    `only_workspace`, to the repos at and inside the workspace.
    """

    indexer: Indexer
    vectors: VectorStore
    workspaces: Workspaces
    sessions: SessionDefaults
    default_collection: str
    memory_collection: str
    current_repo: str | None
    vectors_dir: Path
    default_repo: str | None = None
    only_workspace: bool = False
    window: WindowSize = DEFAULT_WINDOW
    info: InfoDefaults = field(default_factory=InfoDefaults)
    watch: Watch | None = None

    def collection(self, given: str | None, session: str | None = None) -> str:
        """Return the collection a call works on: its argument, its session's, or the default.

        Raises InvalidInput for an unknown session, NotPermitted where the caller reaches nothing
        of the collection.
        """
        chosen = given or self.sessions.collection(session) or self.default_collection
        current().only_projects(chosen)
        return chosen

    async def code_collections(self) -> set[str]:
        """Return the names of the collections of code, with the default one before it exists."""
        infos = await self.vectors.list_collections()
        known = {info.name for info in infos if holds_code(info)}
        return known if current().limits else known | {self.default_collection}

    async def view(self, collection: str) -> Filter | None:
        """Return the filter for what the caller's checkouts have; None where nothing is hidden."""
        known = await self.indexer.checkouts.of(collection)
        chosen = choose_checkouts(known, self.workspaces.root)
        return without_versions(None, await self.indexer.checkouts.hidden(chosen))

    def repos(self, given: Sequence[str], scope: PathScope) -> tuple[str, ...]:
        """Return the repos that a search is about: those given, or those of the caller."""
        if given:
            return tuple(given)
        if self.default_repo and (current().limits is None or self.default_repo in scope.roots):
            return (self.default_repo,)
        return scope.default_repos() if self.only_workspace else ()

    def repo_of(self, location: WorkspacePath) -> str | None:
        """Return CURRENT_REPO for the root workspace; None lets git name other workspaces."""
        return self.current_repo if location.workspace == self.workspaces.root else None

    def close(self) -> None:
        self.indexer.close()
