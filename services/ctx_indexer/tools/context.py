"""The parts and defaults that the indexer's tools share."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ctx_core.access.access import current
from ctx_core.errors import InvalidInput
from ctx_core.serving.sessions import COLLECTION_PATTERN, SessionDefaults
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.indexing.indexer import Indexer
from ctx_indexer.schema.points import holds_code
from ctx_indexer.source.workspace import WorkspacePath, Workspaces
from ctx_indexer.view.views import Views
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
    """The arguments of `info_request` that a call leaves out."""

    limit: int = 10
    context_lines: int = 5
    explains: bool = False
    relationships: bool = False


@dataclass(frozen=True)
class IndexerContext:
    """The indexer, the store and the defaults of a server's tools.

    Each tool that reads code resolves its view once, by `views`, and hands it down.
    """

    indexer: Indexer
    vectors: VectorStore
    workspaces: Workspaces
    sessions: SessionDefaults
    views: Views
    memory_collection: str
    current_repo: str | None
    vectors_dir: Path
    info: InfoDefaults = field(default_factory=InfoDefaults)
    watch: Watch | None = None

    @property
    def default_collection(self) -> str:
        return self.views.defaults.collection

    async def code_collections(self) -> set[str]:
        """Return the names of the collections of code, with the default one before it exists."""
        infos = await self.vectors.list_collections()
        known = {info.name for info in infos if holds_code(info)}
        return known if current().limits else known | {self.default_collection}

    def repo_of(self, location: WorkspacePath) -> str | None:
        """Return CURRENT_REPO for the root workspace; None lets git name other workspaces."""
        return self.current_repo if location.workspace == self.workspaces.root else None

    def close(self) -> None:
        self.indexer.close()
