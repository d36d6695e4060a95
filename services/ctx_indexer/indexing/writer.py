"""Writes prepared files to the store: new points, then the manifest, then old ones out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ctx_core.batches import batches
from ctx_core.blocking import COMPUTE
from ctx_core.embedding.protocol import Embedder
from ctx_core.vectors.points import Point
from ctx_core.vectors.protocol import VectorStore
from ctx_core.vectors.queries import Condition, Filter, HasId, MatchAny
from ctx_indexer.indexing.prepare import Prepared
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import CheckoutFile, FileVersion, RepoKey, VersionRow
from ctx_indexer.manifest.tables import WRITING
from ctx_indexer.schema.fields import FILE_VERSION, files_filter, version_id
from ctx_indexer.schema.points import ChunkPoint, index_version
from ctx_indexer.source.walk import SourceFile

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
    """Writes batches of files of one checkout in an order that survives a crash.

    A version's points are hidden from every checkout until one holds it, and from all when none
    does any more. `replaced` are the paths that may have older points under the same version;
    `scanned_at` is when files were inspected.
    """

    store: VectorStore
    embedder: Embedder
    manifest: Manifest
    checkout: Checkout
    replaced: Collection[str] = ()
    scanned_at: float = 0.0

    @property
    def key(self) -> RepoKey:
        return self.checkout.key

    async def write(self, batch: Sequence[Prepared]) -> None:
        """Write a batch: afterwards it is searchable, its older points are gone, both recorded.

        Cut short, it leaves versions with the status `writing`, and the next run repeats the batch.
        """
        versions = [_version_row(each) for each in batch]
        await self.manifest.versions.begin(self.key, versions)
        points = [point for each in batch for point in each.points]
        for part in batches(points, BATCH_CHUNKS):
            await self.store.upsert(self.key.collection, await COMPUTE.run(self._embed, part))
        written = [row.version for row in versions]
        replaced = [each for each in batch if each.file.path in self.replaced]
        files = [self._row(each.file) for each in batch]
        unheld = await self.manifest.files.hold(self.checkout, files, () if replaced else written)
        if replaced:
            await self._delete_older(replaced)
            await self.manifest.versions.finish(self.key, written)
        if unheld:
            await self.sweep()

    async def share(self, files: Sequence[SourceFile]) -> None:
        """Let the checkout have files whose points another checkout has; also new sizes, times."""
        rows = [self._row(file) for file in files]
        if rows and await self.manifest.files.hold(self.checkout, rows):
            await self.sweep()

    async def remove(self, paths: Sequence[str]) -> None:
        """Take files from the checkout, and delete the points that no checkout has."""
        if paths and await self.manifest.files.release(self.checkout, paths):
            await self.sweep()

    async def delete_orphans(self, paths: Collection[str]) -> None:
        """Delete the points of paths that are of no known version."""
        for batch in batches(sorted(paths), PATHS_PER_DELETE):
            await self._delete_except(batch, await self.manifest.versions.kept(self.key, batch))

    async def sweep(self) -> None:
        """Delete the points of versions that no checkout has, then their rows."""
        for batch in batches(await self.manifest.versions.removable(self.key), PATHS_PER_DELETE):
            await self.delete_orphans({version.path for version in batch})
            await self.manifest.versions.forget(self.key, batch)

    async def _delete_older(self, batch: Sequence[Prepared]) -> None:
        """Delete the points of files that are not the ones just written, nor of other versions."""
        paths = [each.file.path for each in batch]
        own = {FileVersion(each.file.path, each.file.blob) for each in batch}
        stored = await self.manifest.versions.kept(self.key, paths)
        kept = [each for each in stored if each not in own]
        ids = [point.id for each in batch for point in each.points]
        await self._delete_except(paths, kept, ids)

    async def _delete_except(
        self, paths: Sequence[str], kept: Sequence[FileVersion], ids: Sequence[str] = ()
    ) -> None:
        """Delete the points of paths but for those of some versions, and some ids."""
        excluded: list[Condition] = [HasId(ids)] if ids else []
        if kept:
            numbers = [version_id(self.key.repo, *version) for version in kept]
            excluded.append(MatchAny(FILE_VERSION, numbers))
        files = files_filter(self.key.repo, paths)
        await self.store.delete(self.key.collection, Filter(must=files.must, must_not=excluded))

    def _embed(self, points: Sequence[ChunkPoint]) -> list[Point]:
        rows = self.embedder.embed_documents([point.embedding_text for point in points])
        return [point.with_dense(row) for point, row in zip(points, rows, strict=True)]

    def _row(self, file: SourceFile) -> CheckoutFile:
        is_sure = file.modified < self.scanned_at - RACY_SECONDS
        return CheckoutFile(file.path, file.blob, file.size, file.modified if is_sure else UNSURE)


def _version_row(prepared: Prepared) -> VersionRow:
    file = prepared.file
    return VersionRow(
        path=file.path,
        blob=file.blob,
        chunks=len(prepared.points),
        language=file.language,
        index_version=index_version(file.language),
        status=WRITING,
    )
