"""Keeps, changes, deletes and reads thread entries."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from typing_extensions import TypedDict

from services.core.clock import utc_now
from services.core.errors import EntryNotFound, InvalidInput
from services.memory.projection.outbox import Outbox
from services.memory.projection.wait import wait_until_searchable
from services.memory.records.store import Records
from services.memory.records.types import (
    Change,
    ChangedEntry,
    ContentType,
    Criteria,
    EntryKind,
    moment,
)
from services.memory.threads.render import EntryView, entry_view, with_images
from services.memory.threads.requests import ChangeArgument, EntryArgument, ImageLimits
from services.memory.threads.responses import (
    DeleteAnswer,
    DeleteBatchAnswer,
    StoreAnswer,
    ThreadList,
    UpdateAnswer,
)


class Later(TypedDict, total=False):
    """What an answer says of work that was not finished with it."""

    warnings: list[str]


class Entries:
    """What the thread tools do to entries."""

    def __init__(
        self,
        records: Records,
        outbox: Outbox,
        collection: str,
        limits: ImageLimits,
        written: Callable[[Sequence[int]], None],
    ) -> None:
        self.records = records
        self.collection = collection
        self.limits = limits
        self._outbox = outbox
        self._written = written

    async def store(self, entry: EntryArgument) -> StoreAnswer:
        draft = entry.draft(self.collection, self.limits)
        [(id_, uuid, created)] = await self.records.add([draft])
        answer: StoreAnswer = {
            "success": True,
            "context_id": id_,
            "thread_id": entry.thread_id,
            "message": "Stored" if created else "Repeats the thread's latest entry: updated it",
        }
        return {**answer, **await self.settled([id_], [uuid])}

    async def update(self, change: ChangeArgument) -> UpdateAnswer:
        [(id_, fields)] = await self.change([change.change(self.limits)])
        answer: UpdateAnswer = {
            "success": True,
            "context_id": id_,
            "updated_fields": fields,
            "message": f"Updated {', '.join(fields)}",
        }
        return {**answer, **await self.settled([id_])}

    async def change(self, changes: Sequence[Change]) -> list[ChangedEntry]:
        """All of the changes or none; in the words of the contract where an entry is missing."""
        try:
            return await self.records.change(changes, EntryKind.THREAD)
        except EntryNotFound as error:
            unknown = [str(id_) for id_ in error.details.get("unknown", ())]
            raise EntryNotFound(
                "context_id",
                f"there is no entry {', '.join(unknown)}; search_context lists what there is",
                unknown=unknown,
            ) from error

    async def get(self, ids: Sequence[int], include_images: bool) -> list[EntryView]:
        """In the order asked for, each once; those that do not exist are left out."""
        entries = await self.records.get(list(dict.fromkeys(ids)), EntryKind.THREAD)
        views = [entry_view(entry) for entry in entries]
        if include_images:
            rich = [e.id for e in entries if e.content_type is ContentType.MULTIMODAL]
            with_images(views, await self.records.images(rich) if rich else {})
        return views

    async def delete(self, ids: Sequence[int] | None, thread: str | None) -> DeleteAnswer:
        """By ids, by thread, or the ids only as far as they belong to the thread."""
        if not ids and thread is None:
            raise InvalidInput("context_ids", "name the entries to delete, or give thread_id")
        threads = None if thread is None else [thread]
        return await self._remove(Criteria(EntryKind.THREAD, ids=ids or None, threads=threads))

    async def delete_batch(
        self,
        ids: Sequence[int] | None,
        threads: Sequence[str] | None,
        source: str | None,
        older_than_days: int | None,
    ) -> DeleteBatchAnswer:
        """What meets all of the criteria; who wrote it is too little to delete by."""
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

    async def threads(self) -> ThreadList:
        found = await self.records.thread_list()
        return {
            "threads": [
                {
                    "thread_id": each.thread,
                    "entry_count": each.entries,
                    "source_types": dict(each.sources),
                    "multimodal_count": each.multimodal,
                    "first_entry": each.first_at,
                    "last_entry": each.last_at,
                    "last_id": each.last_id,
                }
                for each in found
            ],
            "total_threads": len(found),
        }

    async def settled(self, ids: Sequence[int] = (), uuids: Sequence[str] | None = None) -> Later:
        """After a write: have it summarised, and wait a moment until it can be searched."""
        self._written(ids)
        reason = await wait_until_searchable(self._outbox, uuids)
        if reason is None:
            return {}
        return {"warnings": [f"kept, but semantic search does not see it yet: {reason}"]}

    async def _remove(self, criteria: Criteria) -> DeleteAnswer:
        count = await self.records.remove(criteria)
        answer: DeleteAnswer = {
            "success": True,
            "deleted_count": count,
            "message": f"Deleted {count} {'entry' if count == 1 else 'entries'}",
        }
        return {**answer, **await self.settled()}
