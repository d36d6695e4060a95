"""What the indexing tools work with, put together once."""

from dataclasses import asdict, dataclass
from pathlib import Path

from typing_extensions import TypedDict

from services.core.engine.engine import Engine
from services.core.serving import progress
from services.core.serving.sessions import SessionDefaults
from services.core.settings import Settings
from services.core.vectors.protocol import VectorStore
from services.indexer.indexing.indexer import Indexer
from services.indexer.indexing.manifest import Manifest
from services.indexer.indexing.report import IndexReport, Progress
from services.indexer.source.walk import Limits
from services.indexer.source.workspace import WorkspacePath, Workspaces


class IndexStats(TypedDict):
    """What a run did. Processed are the files that were added or changed.

    `carried` counts the chunks of other repos that a collection built anew took over.
    """

    files_processed: int
    chunks_created: int
    vectors_generated: int
    processing_time_seconds: float
    errors: int
    files_added: int
    files_changed: int
    files_removed: int
    files_unchanged: int
    skipped: dict[str, int]
    carried: dict[str, int]
    failures: list[dict[str, str]]


class IndexResult(TypedDict):
    """What `qdrant_index` answers."""

    ok: bool
    operation: str
    subdir: str
    collection: str
    repo: str
    recreate: bool
    stats: IndexStats
    message: str


@dataclass(frozen=True)
class IndexerContext:
    """What the tools work with."""

    indexer: Indexer
    vectors: VectorStore
    workspaces: Workspaces
    sessions: SessionDefaults
    collection: str
    current_repo: str | None
    vectors_dir: Path

    def collection_of(self, given: str | None, session: str | None = None) -> str:
        return given or self.sessions.collection(session) or self.collection

    def repo_of(self, place: WorkspacePath) -> str | None:
        """CURRENT_REPO names the workspace root; other workspaces are named by git."""
        return self.current_repo if place.workspace == self.workspaces.root else None

    async def index(self, place: WorkspacePath, collection: str, recreate: bool) -> IndexResult:
        report = await self.indexer.index(
            place.workspace,
            collection=collection,
            repo=self.repo_of(place),
            subdir=place.subdir,
            recreate=recreate,
            progress=_tell,
        )
        return index_result(report)

    def close(self) -> None:
        self.indexer.close()


def open_desk(settings: Settings, engine: Engine, sessions: SessionDefaults) -> IndexerContext:
    """The indexer and what its tools need, over shared parts."""
    state = Manifest(settings.index_state_path)
    server = str(settings.qdrant_url) if settings.qdrant_url else None
    indexer = Indexer(
        engine.vectors,
        engine.embedder,
        state,
        store_key=server or ("child" if settings.qdrant_bin else "embedded"),
        reserved=settings.memory_collection_name,
        limits=Limits(max_file_bytes=settings.max_file_bytes),
        processes=settings.index_workers,
    )
    more = [Path(folder).expanduser() for folder in settings.workspace_roots]
    return IndexerContext(
        indexer=indexer,
        vectors=engine.vectors,
        workspaces=Workspaces(settings.workspace.expanduser(), more),
        sessions=sessions,
        collection=settings.collection_name,
        current_repo=settings.current_repo,
        vectors_dir=settings.vectors_dir,
    )


async def _tell(done: Progress) -> None:
    await progress.report(done.done, done.total or None, f"{done.stage}, {done.chunks} chunks")


def index_result(report: IndexReport) -> IndexResult:
    failed = len(report.failures)
    return {
        "ok": True,
        "operation": "index",
        "subdir": report.subdir,
        "collection": report.collection,
        "repo": report.repo,
        "recreate": report.recreated,
        "stats": {
            "files_processed": report.written,
            "chunks_created": report.chunks,
            "vectors_generated": report.chunks,
            "processing_time_seconds": round(report.seconds, 3),
            "errors": failed,
            "files_added": report.added,
            "files_changed": report.changed,
            "files_removed": report.removed,
            "files_unchanged": report.unchanged,
            "skipped": dict(report.skipped),
            "carried": dict(report.carried),
            "failures": [asdict(failure) for failure in report.failures],
        },
        "message": f"Indexing completed; {failed} files failed"
        if failed
        else "Indexing completed successfully",
    }
