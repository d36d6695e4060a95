"""One index run over a workspace: scan → plan → prepare → embed → write."""

import time
from collections import deque
from collections.abc import Collection
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from ctx_core.blocking import GIT
from ctx_core.clock import utc_now
from ctx_core.embedding.protocol import Embedder
from ctx_core.vectors.protocol import VectorStore
from ctx_indexer.indexing.checkouts import check_divergence
from ctx_indexer.indexing.lease import NO_LEASE, Lease
from ctx_indexer.indexing.plan import make_plan
from ctx_indexer.indexing.prepare import Job, Prepared
from ctx_indexer.indexing.progress import RunProgress
from ctx_indexer.indexing.report import Failure, IndexReport
from ctx_indexer.indexing.scan import scan
from ctx_indexer.indexing.verify import Mismatch, compare
from ctx_indexer.indexing.workers import Workers
from ctx_indexer.indexing.writer import BATCH_CHUNKS, Writer
from ctx_indexer.manifest.checkouts import Checkout
from ctx_indexer.manifest.manifest import Manifest
from ctx_indexer.manifest.rows import FileVersion, ManifestRow, VersionRow
from ctx_indexer.source.walk import FileLimits, SourceFile, is_under


@dataclass(frozen=True)
class IndexRun:
    """The parts, the folder and the progress of one run."""

    store: VectorStore
    embedder: Embedder
    manifest: Manifest
    workers: Workers
    limits: FileLimits
    workspace: Path
    subdir: str
    progress: RunProgress
    paths: Collection[str] | None = None  # the files and folders that may have changed; None is all
    lease: Lease = NO_LEASE

    async def update(self, checkout: Checkout) -> IndexReport:
        """Index the added and changed files of the folder, and remove the ones that are gone.

        Raises StorageFailed, IndexingFailed where no worker can run, and Diverged.
        """
        started = time.monotonic()
        await self.progress.tell("scanning")
        key = checkout.key
        await self._finish_earlier(checkout)
        rows, versions, mismatch = await self._recorded(checkout)
        scanned_at = time.time()
        scanned = await GIT.run(scan, self.workspace, self.subdir, self.limits, rows, self.paths)
        if self.paths is None and not self.subdir:
            own = {FileVersion(file.path, file.blob) for file in scanned.files}
            check_divergence(own, await self.manifest.files.of_others(checkout))
        files, size = len(scanned.files), sum(file.size for file in scanned.files)
        skipped = scanned.skipped
        plan = make_plan(
            scanned.files,
            rows,
            versions,
            mismatch=mismatch,
            under=self.subdir,
        )
        del scanned, versions  # files are let go as they are written: there may be 100,000
        writer = Writer(
            self.store, self.embedder, self.manifest, checkout, plan.replaced, scanned_at
        )
        added, changed, unchanged = plan.added, plan.changed, len(plan.unchanged)
        shared = len(plan.shared)
        await writer.share(plan.shared)
        writes, plan = deque(plan.writes), plan.without_writes()
        total = len(writes)
        failures = await self._write(writer, writes)
        await self.progress.tell("removing", total, total)
        await writer.remove(plan.removed)
        await writer.delete_orphans(
            [path for path in mismatch.orphans if is_under(path, self.subdir)]
        )
        await writer.share(plan.touched)
        failed = {failure.path for failure in failures}
        elsewhere = [row for row in rows.values() if not is_under(row.path, self.subdir)]
        files += len(elsewhere) - len(failed)
        size += sum(row.size for row in elsewhere)
        if self.paths is not None:
            files, size = await self.manifest.files.totals(checkout)
        return IndexReport(
            subdir=self.subdir,
            collection=key.collection,
            repo=key.repo,
            recreated=False,
            added=len(added) - len(failed & added),
            changed=changed - len(failed - added),
            removed=len(plan.removed),
            unchanged=unchanged,
            shared=shared,
            chunks=self.progress.chunks,
            files=files,
            size=size,
            seconds=time.monotonic() - started,
            failures=failures,
            skipped=skipped,
            redacted=dict(self.progress.redacted),
        )

    async def _recorded(
        self, checkout: Checkout
    ) -> tuple[dict[str, ManifestRow], dict[FileVersion, VersionRow], Mismatch]:
        """Return the rows and versions of the files in question, and how the points differ.

        The store is compared with the manifest by a whole run only.
        """
        key = checkout.key
        rows = await self.manifest.files.of(checkout, self.paths)
        versions = await self.manifest.versions.of_repo(key, self.paths)
        whole = self.paths is None
        return rows, versions, await compare(self.store, key, versions) if whole else Mismatch()

    async def _finish_earlier(self, checkout: Checkout) -> None:
        """Remove the versions of a run that was cut short: no checkout has them."""
        if await self.manifest.versions.abandon(checkout.key):
            await Writer(self.store, self.embedder, self.manifest, checkout).sweep()

    async def _write(self, writer: Writer, files: deque[SourceFile]) -> list[Failure]:
        """Write files in batches while workers prepare the next ones; takes them off the queue."""
        job = Job(self.workspace, writer.key.repo, utc_now(), self.limits, files=files)
        failures: list[Failure] = []
        batch: list[Prepared] = []
        total = len(files)
        await self.progress.tell("writing", 0, total)
        async with aclosing(self.workers.prepare(job)) as outcomes:
            async for outcome in outcomes:
                if isinstance(outcome, Failure):
                    failures.append(outcome)
                    continue
                batch.append(outcome)
                if sum(len(each.points) for each in batch) >= BATCH_CHUNKS:
                    await self._write_batch(writer, batch)
                    batch = []
                    await self.progress.tell("writing", self.progress.files + len(failures), total)
        if batch:
            await self._write_batch(writer, batch)
        return failures

    async def _write_batch(self, writer: Writer, batch: list[Prepared]) -> None:
        self.lease.check()
        await writer.write(batch)
        self.progress.count(batch)
