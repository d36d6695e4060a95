"""Assembles project knowledge: one store, sync and search for each project that is asked for."""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from ctx_core.access.access import current
from ctx_core.blocking import GIT
from ctx_core.engine.engine import Engine
from ctx_core.errors import CtxError, KnowledgeRefused
from ctx_core.serving import caller
from ctx_core.serving.sessions import SessionDefaults
from ctx_core.settings import Settings
from ctx_memory.knowledge.private import PrivateEntries
from ctx_memory.knowledge.project import Project, Projects
from ctx_memory.knowledge.runs import open_run
from ctx_memory.knowledge.search.documents import Documents
from ctx_memory.knowledge.search.index import KnowledgeIndex
from ctx_memory.knowledge.search.searcher import KnowledgeSearcher
from ctx_memory.knowledge.store import KnowledgeStore
from ctx_memory.knowledge.sync.git_sync import GitSync
from ctx_memory.knowledge.sync.resolution import ConflictResolution
from ctx_memory.records.private import PrivateRecords

log = logging.getLogger(__name__)

LAST_PUSH_SECONDS = 10.0  # a server that stops is waited for
UNKNOWN_CALLER = "mcp:unknown"


@dataclass(frozen=True)
class ProjectKnowledge:
    """The knowledge of one project: its store, its sync, its search."""

    store: KnowledgeStore
    sync: GitSync
    resolution: ConflictResolution
    searcher: KnowledgeSearcher


class Knowledge:
    """Opens the knowledge of projects, each once. Without an engine search compares words alone."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine | None,
        records: PrivateRecords,
        run: str,
        sessions: SessionDefaults,
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._records = records
        self._run = run
        self._sessions = sessions
        self._projects = Projects(settings.workspace, [Path(r) for r in settings.workspace_roots])
        self._opened: dict[Path, ProjectKnowledge] = {}

    async def open(self, project: str | None = None) -> ProjectKnowledge:
        """Return the knowledge of the project that is named, else of the session's or the server's.

        Raises KnowledgeRefused if there is none, or it lies outside the allowed folders, and
        NotPermitted if the caller does not reach it.
        """
        found = await self._find(project or self._sessions.project())
        if found.root not in self._opened:
            self._opened[found.root] = self._assemble(found)
        return self._opened[found.root]

    async def check_project(self, project: str) -> str:
        """Return the root of a project that may be used; raises as `open` does."""
        return str((await self._find(project)).root)

    async def _find(self, given: str | None) -> Project:
        """Find a project that the caller reaches.

        Raises KnowledgeRefused where there is none; to a caller with limits, who may not learn
        which folders exist, NotPermitted alike.
        """
        access = current()
        try:
            found = await GIT.run(self._projects.find, given)
        except KnowledgeRefused:
            access.require_project()
            raise
        access.require_project(found.root.name, str(found.root))
        return found

    def author(self) -> str:
        """Name whoever calls: as the environment says, else as the client calls itself."""
        if self._settings.mcp_caller:
            return self._settings.mcp_caller
        name = caller.current.get().name
        return f"mcp:{name}" if name else UNKNOWN_CALLER

    async def push_written(self) -> None:
        """Push the knowledge of each project that this run wrote to; a failure is only logged."""
        for knowledge in self._opened.values():
            if not knowledge.store.has_written:
                continue
            try:
                async with asyncio.timeout(LAST_PUSH_SECONDS):
                    answer = await knowledge.sync.push()
                log.info("knowledge of %s: %s", knowledge.store.project.name, answer["status"])
            except (CtxError, TimeoutError) as error:
                log.warning("knowledge of %s: %s", knowledge.store.project.name, error)

    def _assemble(self, project: Project) -> ProjectKnowledge:
        private = PrivateEntries(self._records, self._run, project.private_id)
        store = KnowledgeStore(project, private, auto_init=not self._settings.no_auto_init)
        sync = GitSync(store)
        searcher = KnowledgeSearcher(Documents(store), self._index(project))
        return ProjectKnowledge(store, sync, ConflictResolution(store, sync), searcher)

    def _index(self, project: Project) -> KnowledgeIndex | None:
        if self._engine is None:
            return None
        name = hashlib.sha256(str(project.root).encode()).hexdigest()[:32]
        collection = self._settings.knowledge_collection_name
        return KnowledgeIndex(self._engine.vectors, self._engine.embedder, collection, name)


@contextlib.asynccontextmanager
async def open_knowledge(
    settings: Settings, engine: Engine | None, records: PrivateRecords, sessions: SessionDefaults
) -> AsyncIterator[Knowledge]:
    """Serve knowledge for one run, which ephemeral entries end with."""
    async with open_run(records, settings.data_dir / "runs") as run:
        knowledge = Knowledge(settings, engine, records, run, sessions)
        yield knowledge
        if settings.knowledge_push_on_stop and not settings.read_only:
            await knowledge.push_written()
