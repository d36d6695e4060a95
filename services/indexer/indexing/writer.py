"""Prepared files into the store: new points first, then the old ones out, then the record."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.core.batches import batches
from services.core.embedding.protocol import Embedder
from services.core.vectors.protocol import VectorStore
from services.core.vectors.types import (
    BM25,
    DENSE,
    Condition,
    Filter,
    HasId,
    Match,
    MatchAny,
    Point,
)
from services.indexer.indexing.manifest import DONE, WRITING, Manifest, ManifestRow, RepoKey
from services.indexer.indexing.prepare import INDEX_VERSION, Prepared, PreparedChunk
from services.indexer.source.walk import SourceFile

# Texts embedded at once and points written between two records: the cost of a call and of a
# transaction is spread over them, and they take a second or so, which is what a crash repeats.
BATCH_CHUNKS = 384
PATHS_A_DELETE = 200
# A file that was changed a moment before it was read may change again within the clock of its file
# system (2 s at worst): its time is not remembered, so that the next run reads it again.
RACY_SECONDS = 2.0
UNSURE = -1.0


@dataclass(frozen=True)
class Writer:
    """Writes batches of files of one repo, each in an order that a crash cannot spoil.

    `replacing` are the paths at which older points may stand. `started` is when the files were
    looked at.
    """

    store: VectorStore
    embedder: Embedder
    state: Manifest
    shelf: RepoKey
    replacing: Collection[str]
    started: float

    async def write(self, batch: Sequence[Prepared]) -> None:
        """When this returns the files are searchable, their older points gone, and both recorded.

        If it is cut short the rows say `writing`, and the next run writes the files again.
        """
        await self.state.put(self.shelf, [self._row(each, WRITING) for each in batch])
        chunks = [chunk for each in batch for chunk in each.chunks]
        for part in batches(chunks, BATCH_CHUNKS):
            points = await asyncio.to_thread(self._points, part)
            await self.store.upsert(self.shelf.collection, points)
        await self._delete_older([each for each in batch if each.file.path in self.replacing])
        await self.state.put(self.shelf, [self._row(each, DONE) for each in batch])

    async def touch(self, files: Sequence[SourceFile], rows: dict[str, ManifestRow]) -> None:
        """Remember the new times of files whose content is as it was."""
        touched = [
            ManifestRow(**{**vars(rows[f.path]), "size": f.size, "modified": self._modified(f)})
            for f in files
        ]
        await self.state.put(self.shelf, touched)

    async def remove(self, paths: Sequence[str]) -> None:
        """The rows go last, and say meanwhile that nothing is certain."""
        for batch in batches(paths, PATHS_A_DELETE):
            await self.state.mark_dirty(self.shelf, batch)
            await self.store.delete(self.shelf.collection, Filter(must=self._at(batch)))
            await self.state.forget(self.shelf, batch)

    async def _delete_older(self, batch: Sequence[Prepared]) -> None:
        """All that stands at these paths beside what was just written."""
        if batch:
            ids = [chunk.id for each in batch for chunk in each.chunks]
            older = Filter(must=self._at([e.file.path for e in batch]), must_not=[HasId(ids)])
            await self.store.delete(self.shelf.collection, older)

    def _at(self, paths: Sequence[str]) -> list[Condition]:
        return [Match("repo", self.shelf.repo), MatchAny("path", list(paths))]

    def _points(self, chunks: Sequence[PreparedChunk]) -> list[Point]:
        dense = self.embedder.embed_documents([chunk.text for chunk in chunks])
        return [
            Point(chunk.id, {DENSE: row, BM25: chunk.lexical}, chunk.payload)
            for chunk, row in zip(chunks, dense, strict=True)
        ]

    def _row(self, prepared: Prepared, status: str) -> ManifestRow:
        file = prepared.file
        return ManifestRow(
            path=file.path,
            blob=file.blob,
            size=file.size,
            modified=self._modified(file),
            chunks=len(prepared.chunks),
            language=file.language,
            scheme=INDEX_VERSION,
            status=status,
        )

    def _modified(self, file: SourceFile) -> float:
        return file.modified if file.modified < self.started - RACY_SECONDS else UNSURE
