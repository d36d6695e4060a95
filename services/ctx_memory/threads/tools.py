"""The thread tools that store, read, change and delete entries, as the contract names them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, SkipValidation

from ctx_core.serving.service import Effect, Tool
from ctx_memory.records.entry import MAX_OFFSET
from ctx_memory.threads.render import EntryResult
from ctx_memory.threads.requests import (
    ChangeArgument,
    EntryArgument,
    EntryId,
    ImageArgument,
    Source,
    ThreadId,
)
from ctx_memory.threads.responses import (
    BatchResult,
    DeleteBatchResult,
    DeleteResult,
    StoreResult,
    ThreadListResult,
    UpdateResult,
    thread_error_body,
)
from ctx_memory.threads.search_request import ALL_SEARCHES, EnabledSearches
from ctx_memory.threads.search_tools import search_tools
from ctx_memory.threads.statistics import StatisticsResult
from ctx_memory.threads.threads import Threads

TOOLSET = "threads"
MAX_BATCH = 100
MAX_IDS = 1_000  # of one call
MAX_DAYS = 36_500

Ids = Annotated[list[EntryId], Field(min_length=1, max_length=MAX_IDS)]
Images = list[ImageArgument] | None
Tags = list[str] | None
Object = dict[str, Any] | None


def thread_tools(threads: Threads, enabled: EnabledSearches = ALL_SEARCHES) -> Sequence[Tool]:
    """Return the thirteen tools of the threads contract, without searches that are not enabled."""
    searches = search_tools(threads, TOOLSET, enabled)
    tools = [*_entry_tools(threads), *searches, *_batch_tools(threads)]
    return [replace(tool, error_body=thread_error_body) for tool in tools]


def _entry_tools(threads: Threads) -> Sequence[Tool]:
    async def store_context(
        thread_id: Annotated[
            ThreadId, Field(description="Thread to add to: a conversation or a task.")
        ],
        source: Annotated[Source, Field(description="Who it comes from.")],
        text: Annotated[str, Field(description="What to keep.")],
        images: Annotated[Images, Field(description="Images that belong to it.")] = None,
        metadata: Annotated[
            Object, Field(description="Any JSON object, to filter by later.")
        ] = None,
        tags: Annotated[Tags, Field(description="Tags to filter by; case does not count.")] = None,
    ) -> StoreResult:
        """Add an entry to a thread.

        The same text from the same source twice in a row is one entry: the second call updates it.
        """
        return await threads.entries.store(
            EntryArgument(
                thread_id=thread_id,
                source=source,
                text=text,
                images=images,
                metadata=metadata,
                tags=tags,
            )
        )

    async def get_context_by_ids(
        context_ids: Annotated[Ids, Field(description="Entries to read.")],
        include_images: Annotated[bool, Field(description="Show their images.")] = True,
    ) -> list[EntryResult]:
        """Read entries in full, in the order of the ids; ids that do not exist are left out."""
        return await threads.entries.get(context_ids, include_images)

    async def update_context(
        context_id: Annotated[EntryId, Field(description="Entry to change.")],
        text: Annotated[str | None, Field(description="New text.")] = None,
        metadata: Annotated[Object, Field(description="New metadata, all of it.")] = None,
        metadata_patch: Annotated[
            Object,
            Field(
                description="Metadata to merge in, level by level; null removes a key. Not "
                "together with metadata."
            ),
        ] = None,
        tags: Annotated[Tags, Field(description="New tags, all of them.")] = None,
        images: Annotated[Images, Field(description="New images, all of them.")] = None,
    ) -> UpdateResult:
        """Replace parts of an entry; what is left out stays as it is. Name at least one part."""
        return await threads.entries.update(
            ChangeArgument(
                context_id=context_id,
                text=text,
                metadata=metadata,
                metadata_patch=metadata_patch,
                tags=tags,
                images=images,
            )
        )

    async def delete_context(
        context_ids: Annotated[Ids | None, Field(description="Entries to delete.")] = None,
        thread_id: Annotated[
            ThreadId | None, Field(description="Thread to delete from; alone: all of it.")
        ] = None,
    ) -> DeleteResult:
        """Delete entries by id, or a whole thread. Both together delete what meets both."""
        return await threads.entries.delete(context_ids, thread_id)

    async def list_threads(
        limit: Annotated[int | None, Field(ge=1, description="All by default.")] = None,
        offset: Annotated[int, Field(ge=0, le=MAX_OFFSET, description="Threads to skip.")] = 0,
    ) -> ThreadListResult:
        """List threads, the most recent first: their size, sources and times."""
        return await threads.entries.threads(limit, offset)

    async def get_statistics() -> StatisticsResult:
        """Count what is stored, and report which kinds of search and summaries work."""
        return await threads.statistics.all()

    return [
        Tool(store_context, "Store in a thread", TOOLSET, Effect.ADDS),
        Tool(get_context_by_ids, "Read entries", TOOLSET, Effect.READS),
        Tool(update_context, "Update an entry", TOOLSET, Effect.REPLACES),
        Tool(delete_context, "Delete entries", TOOLSET, Effect.DESTROYS),
        Tool(list_threads, "List threads", TOOLSET, Effect.READS),
        Tool(get_statistics, "Thread statistics", TOOLSET, Effect.READS),
    ]


def _batch_tools(threads: Threads) -> Sequence[Tool]:
    async def store_context_batch(
        entries: Annotated[
            list[SkipValidation[EntryArgument]],
            Field(min_length=1, max_length=MAX_BATCH, description="Entries to store."),
        ],
        atomic: Annotated[
            bool, Field(description="Store all or none; false stores what can be stored.")
        ] = True,
    ) -> BatchResult:
        """Store many entries in one call. `results` has the outcome of each."""
        return await threads.batches.store(entries, atomic)

    async def update_context_batch(
        updates: Annotated[
            list[SkipValidation[ChangeArgument]],
            Field(min_length=1, max_length=MAX_BATCH, description="Changes to make."),
        ],
        atomic: Annotated[
            bool, Field(description="Change all or none; false changes what can be changed.")
        ] = True,
    ) -> BatchResult:
        """Change many entries in one call. `results` has the outcome of each."""
        return await threads.batches.update(updates, atomic)

    async def delete_context_batch(
        context_ids: Annotated[Ids | None, Field(description="Only these entries.")] = None,
        thread_ids: Annotated[
            list[ThreadId] | None,
            Field(min_length=1, max_length=MAX_IDS, description="Only entries of these threads."),
        ] = None,
        source: Annotated[
            Source | None, Field(description="Only entries from here; never alone.")
        ] = None,
        older_than_days: Annotated[
            int | None, Field(ge=1, le=MAX_DAYS, description="Only entries older than this.")
        ] = None,
    ) -> DeleteBatchResult:
        """Delete every entry that meets all of the given criteria. This cannot be undone."""
        return await threads.entries.delete_batch(context_ids, thread_ids, source, older_than_days)

    return [
        Tool(store_context_batch, "Store many entries", TOOLSET, Effect.ADDS),
        Tool(update_context_batch, "Update many entries", TOOLSET, Effect.REPLACES),
        Tool(delete_context_batch, "Delete many entries", TOOLSET, Effect.DESTROYS),
    ]
