"""Writes prepared files to the store: new points, then old ones out, then the manifest."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from services.core.batches import batches
from services.core.blocking import COMPUTE
from services.core.embedding.protocol import Embedder
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import Filter, HasId, Point
from services.indexer.indexing.manifest import DONE, WRITING, Manifest, ManifestRow, RepoKey
from services.indexer.indexing.prepare import Prepared
from services.indexer.schema.fields import files_filter
from services.indexer.schema.points import INDEX_VERSION, ChunkPoint
from services.indexer.source.walk import SourceFile

# Texts embedded at once, and points written between two records: enough to spread the cost of a
# call and of a transaction, and about a second of work, which a crash repeats.
BATCH_CHUNKS = 384
PATHS_PER_DELETE = 200
# A file changed just before it was read may change again within the resolution of its file
# system's clock (2 s at worst): its time is not recorded, so that the next run reads it again.
RACY_SECONDS = 2.0
UNSURE = -1.0


@dataclass(frozen=True)
class Writer:
    """Writes batches of files of one repo in an order that survives a crash.

    `replaced` are the paths that may have older points; `scanned_at` is when files were inspected.
    """

    store: VectorStore
    embedder: Embedder
    manifest: Manifest
    key: RepoKey
    replaced: Collection[str] = ()
    scanned_at: float = 0.0

    async def write(self, batch: Sequence[Prepared]) -> None:
        """Write a batch: afterwards it is searchable, its older points are gone, both recorded.

        Cut short, it leaves rows with the status `writing`, and the next run repeats the batch.
        """
        await self.manifest.put(self.key, [self._row(each, WRITING) for each in batch])
        points = [point for each in batch for point in each.points]
        for part in batches(points, BATCH_CHUNKS):
            await self.store.upsert(self.key.collection, await COMPUTE.run(self._embed, part))
        await self._delete_older([each for each in batch if each.file.path in self.replaced])
        await self.manifest.put(self.key, [self._row(each, DONE) for each in batch])

    async def touch(self, files: Sequence[SourceFile], rows: dict[str, ManifestRow]) -> None:
        """Record the new sizes and times of files with unchanged content."""
        touched = [
            replace(rows[file.path], size=file.size, modified=self._modified(file))
            for file in files
        ]
        await self.manifest.put(self.key, touched)

    async def remove(self, paths: Sequence[str]) -> None:
        """Delete the points of files, then their rows, which are marked as dirty meanwhile."""
        for batch in batches(paths, PATHS_PER_DELETE):
            await self.manifest.mark_dirty(self.key, batch)
            await self.store.delete(self.key.collection, files_filter(self.key.repo, batch))
            await self.manifest.remove(self.key, batch)

    async def _delete_older(self, batch: Sequence[Prepared]) -> None:
        """Delete the points of files that are not the ones just written."""
        if batch:
            ids = [point.id for each in batch for point in each.points]
            files = files_filter(self.key.repo, [each.file.path for each in batch])
            older = Filter(must=files.must, must_not=[HasId(ids)])
            await self.store.delete(self.key.collection, older)

    def _embed(self, points: Sequence[ChunkPoint]) -> list[Point]:
        rows = self.embedder.embed_documents([point.embedding_text for point in points])
        return [point.with_dense(row) for point, row in zip(points, rows, strict=True)]

    def _row(self, prepared: Prepared, status: str) -> ManifestRow:
        file = prepared.file
        return ManifestRow(
            path=file.path,
            blob=file.blob,
            size=file.size,
            modified=self._modified(file),
            chunks=len(prepared.points),
            language=file.language,
            index_version=INDEX_VERSION,
            status=status,
        )

    def _modified(self, file: SourceFile) -> float:
        return file.modified if file.modified < self.scanned_at - RACY_SECONDS else UNSURE
