"""Stores, reads, changes and deletes thread entries."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from typing_extensions import TypedDict

from ctx_core.clock import utc_now
from ctx_core.errors import EntryNotFound, InvalidInput
from ctx_core.secrets.screen import SecretScreen
from ctx_memory.projection.drains import wait_until_searchable
from ctx_memory.projection.outbox import Outbox
from ctx_memory.records.counts import EntryCounts
from ctx_memory.records.entries import EntryRecords
from ctx_memory.records.entry import Change, ChangedEntry, ContentType, Criteria, EntryKind, moment
from ctx_memory.threads.render import EntryResult, add_images, render_entry
from ctx_memory.threads.requests import ChangeArgument, EntryArgument, ImageLimits
from ctx_memory.threads.responses import (
    DeleteBatchResult,
    DeleteResult,
    StoreResult,
    ThreadListResult,
    UpdateResult,
)
from ctx_memory.threads.search_request import clamp_limit


class Warnings(TypedDict, total=False):
    """The key of a write's result for secrets in its entries, and for their late vectors."""

    warnings: list[str]


class ThreadEntries:
    """Stores, reads, changes and deletes entries; `on_write` gets the ids of written ones."""

    def __init__(
        self,
        records: EntryRecords,
        counts: EntryCounts,
        outbox: Outbox,
        collection: str,
        limits: ImageLimits,
        secrets: SecretScreen,
        on_write: Callable[[Sequence[int]], None],
    ) -> None:
        self.records = records
        self._counts = counts
        self.collection = collection
        self.limits = limits
        self.secrets = secrets
        self._outbox = outbox
        self._on_write = on_write

    async def store(self, entry: EntryArgument) -> StoreResult:
        """Store an entry. Raises InvalidInput."""
        screened = await self.secrets.screen(entry.draft(self.collection, self.limits))
        [added] = await self.records.add([screened.value])
        result: StoreResult = {
            "success": True,
            "context_id": added.id,
            "thread_id": entry.thread_id,
            "message": _stored_message(added.is_new, len(entry.images or ())),
        }
        warnings = await self.finish_write([added.id], [added.uuid], screened.warnings)
        return {**result, **warnings}

    async def update(self, change: ChangeArgument) -> UpdateResult:
        """Change an entry. Raises InvalidInput or EntryNotFound."""
        screened = await self.secrets.screen(change.change(self.limits))
        [changed] = await self.change([screened.value])
        result: UpdateResult = {
            "success": True,
            "context_id": changed.id,
            "updated_fields": changed.fields,
            "message": f"Successfully updated {', '.join(changed.fields)}",
        }
        warnings = await self.finish_write([changed.id], warnings=screened.warnings)
        return {**result, **warnings}

    async def change(self, changes: Sequence[Change]) -> list[ChangedEntry]:
        """Make all changes or none. Raises EntryNotFound in the words of the contract."""
        try:
            return await self.records.change(changes, EntryKind.THREAD)
        except EntryNotFound as error:
            unknown = list(dict.fromkeys(error.details.get("unknown", ())))
            names = ", ".join(map(str, unknown))
            raise EntryNotFound(
                "context_id",
                f"entry {names} not found; search_context lists what there is",
                unknown=unknown,
            ) from error

    async def get(self, ids: Sequence[int], include_images: bool) -> list[EntryResult]:
        """Return entries in the order of the ids, each once; unknown ids are left out."""
        entries = await self.records.get(list(dict.fromkeys(ids)), EntryKind.THREAD)
        results = [render_entry(entry) for entry in entries]
        if include_images:
            with_images = [e.id for e in entries if e.content_type is ContentType.MULTIMODAL]
            add_images(results, await self.records.images(with_images) if with_images else {})
        return results

    async def delete(self, ids: Sequence[int] | None, thread: str | None) -> DeleteResult:
        """Delete by ids, by thread, or the ids that belong to the thread where both are given."""
        if not ids and thread is None:
            raise InvalidInput("context_ids", "Must provide either context_ids or thread_id")
        threads = None if thread is None else [thread]
        return await self._remove(Criteria(EntryKind.THREAD, ids=ids or None, threads=threads))

    async def delete_batch(
        self,
        ids: Sequence[int] | None,
        threads: Sequence[str] | None,
        source: str | None,
        older_than_days: int | None,
    ) -> DeleteBatchResult:
        """Delete the entries that meet all criteria. Raises InvalidInput for `source` alone."""
        given = {
            "context_ids": ids,
            "thread_ids": threads,
            "source": source,
            "older_than_days": older_than_days,
        }
        used = [name for name, value in given.items() if value]
        if not set(used) - {"source"}:
            raise InvalidInput(
                "source" if used else "context_ids",
                "give at least one of context_ids, thread_ids, older_than_days"
                + (" beside source" if used else ""),
            )
        until = None
        if older_than_days is not None:
            until = moment(utc_now() - timedelta(days=older_than_days))
        criteria = Criteria(
            EntryKind.THREAD, ids=ids or None, threads=threads or None, source=source, until=until
        )
        return {**await self._remove(criteria), "criteria_used": used}

    async def threads(self, limit: int | None, offset: int) -> ThreadListResult:
        """List threads, the most recent first; all of them without a limit."""
        applied, clamped = (None, None) if limit is None else clamp_limit(limit)
        threads, total = await self._counts.threads(EntryKind.THREAD, applied, offset)
        result: ThreadListResult = {
            "threads": [
                {
                    "thread_id": each.thread,
                    "entry_count": each.entries,
                    "source_types": len(each.sources),
                    "sources": dict(each.sources),
                    "multimodal_count": each.multimodal,
                    "first_entry": each.first_at,
                    "last_entry": each.last_at,
                    "last_id": each.last_id,
                }
                for each in threads
            ],
            "total_threads": total,
        }
        return result if clamped is None else {**result, "clamped_limit": clamped}

    async def finish_write(
        self,
        ids: Sequence[int] = (),
        uuids: Sequence[str] | None = None,
        warnings: Sequence[str] = (),
    ) -> Warnings:
        """Have written entries summarised, and wait until they can be searched, or warn."""
        self._on_write(ids)
        reason = await wait_until_searchable(self._outbox, uuids)
        if reason is not None:
            warnings = [*warnings, f"kept, but semantic search does not see it yet: {reason}"]
        return {"warnings": list(warnings)} if warnings else {}

    async def _remove(self, criteria: Criteria) -> DeleteResult:
        count = await self.records.remove(criteria)
        result: DeleteResult = {
            "success": True,
            "deleted_count": count,
            "message": f"Successfully deleted {count} {'entry' if count == 1 else 'entries'}",
        }
        return {**result, **await self.finish_write()}


def _stored_message(is_new: bool, images: int) -> str:
    if not is_new:
        return "Context updated: it repeats the thread's latest entry"
    return f"Context stored with {images} images" if images else "Context stored"
