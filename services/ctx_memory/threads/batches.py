"""Stores or changes many entries in one call: all or none, or each on its own."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from ctx_core.errors import CtxError, EntryNotFound, InvalidInput
from ctx_memory.records.entry import Change, Draft
from ctx_memory.records.validation import check_change, check_draft
from ctx_memory.threads.entries import ThreadEntries
from ctx_memory.threads.requests import ChangeArgument, EntryArgument, validated
from ctx_memory.threads.responses import BatchItemResult, BatchResult

Item = TypeVar("Item", bound=Draft | Change)
Written = TypeVar("Written")


class Batches:
    """Runs `store_context_batch` and `update_context_batch`."""

    def __init__(self, entries: ThreadEntries) -> None:
        self._entries = entries

    async def store(self, items: Sequence[Any], atomic: bool) -> BatchResult:
        """Store entries. Raises InvalidInput, storing none, for a wrong item of an atomic batch."""
        drafts, errors = _parse(items, self._draft)
        if errors and atomic:
            raise _refusal("entries", [None] * len(items), errors, "stored")
        drafts, warnings = await self._screen("entries", drafts)
        stored, failures = await _write(drafts, self._entries.records.add, atomic)
        results: dict[int, BatchItemResult] = {
            index: {
                "index": index,
                "success": True,
                "context_id": added.id,
                "error": None,
                "thread_id": drafts[index].thread or "",
            }
            for index, added in stored.items()
        }
        uuids = [added.uuid for added in stored.values()]
        errors |= failures
        new = sum(added.is_new for added in stored.values())
        message = f"Stored {new} of {len(items)} entries"
        if repeated := len(stored) - new:
            message += f"; {repeated} repeated the entry before and updated it"
        return await self._result(message, len(items), results, errors, uuids, warnings)

    async def update(self, items: Sequence[Any], atomic: bool) -> BatchResult:
        """Change entries. Raises, changing none, for a wrong or unknown item of an atomic batch."""
        changes, errors = _parse(items, self._change)
        ids = [_id_of(item) for item in items]
        if errors and atomic:
            raise _refusal("updates", ids, errors, "updated")
        changes, warnings = await self._screen("updates", changes)
        try:
            changed, failures = await _write(changes, self._entries.change, atomic)
        except EntryNotFound as error:
            unknown = set(error.details["unknown"])
            missing = {
                n: f"context_id: entry {id_} not found"
                for n, id_ in enumerate(ids)
                if id_ in unknown
            }
            raise _refusal("updates", ids, missing, "updated", EntryNotFound) from error
        results: dict[int, BatchItemResult] = {
            index: {
                "index": index,
                "success": True,
                "context_id": entry.id,
                "error": None,
                "updated_fields": entry.fields,
            }
            for index, entry in changed.items()
        }
        errors |= failures
        message = f"Updated {len(changed)} of {len(items)} entries"
        result = await self._result(message, len(items), results, errors, warnings=warnings)
        for item in result["results"]:
            item["context_id"] = ids[item["index"]]
        return result

    async def _screen(
        self, field: str, items: Mapping[int, Item]
    ) -> tuple[dict[int, Item], list[str]]:
        """Screen each item for secrets; a warning names the item."""
        screened = {index: await self._entries.secrets.screen(items[index]) for index in items}
        warnings = [
            f"{field}.{index}: {text}" for index, each in screened.items() for text in each.warnings
        ]
        return {index: each.value for index, each in screened.items()}, warnings

    def _draft(self, item: Any) -> Draft:
        draft = validated(EntryArgument, item).draft(self._entries.collection, self._entries.limits)
        check_draft(draft, self._entries.records.dialect)
        return draft

    def _change(self, item: Any) -> Change:
        change = validated(ChangeArgument, item).change(self._entries.limits)
        check_change(change, self._entries.records.dialect)
        return change

    async def _result(
        self,
        message: str,
        total: int,
        results: dict[int, BatchItemResult],
        errors: Mapping[int, str],
        uuids: Sequence[str] | None = None,
        warnings: Sequence[str] = (),
    ) -> BatchResult:
        for index, error in errors.items():
            results[index] = {
                "index": index,
                "success": False,
                "context_id": None,
                "error": error,
            }
        succeeded = total - len(errors)
        result: BatchResult = {
            "success": not errors,
            "total": total,
            "succeeded": succeeded,
            "failed": len(errors),
            "results": [results[index] for index in range(total)],
            "message": message,
        }
        ids = [item["context_id"] for item in result["results"] if item["context_id"] is not None]
        if not ids:
            return result
        return {**result, **await self._entries.finish_write(ids, uuids, warnings)}


def _parse(
    raw_items: Sequence[Any], parse: Callable[[Any], Item]
) -> tuple[dict[int, Item], dict[int, str]]:
    """Return by index the items that are valid, and the errors of the others."""
    items: dict[int, Item] = {}
    errors: dict[int, str] = {}
    for index, raw in enumerate(raw_items):
        try:
            items[index] = parse(raw)
        except InvalidInput as error:
            errors[index] = error.message
    return items, errors


def _refusal(
    field: str,
    ids: Sequence[int | None],
    errors: Mapping[int, str],
    verb: str,
    error: type[InvalidInput] = InvalidInput,
) -> InvalidInput:
    """Return the error of an atomic batch; `batch` in its details is the result of the batch."""
    listed = "; ".join(f"{field}.{index}.{message}" for index, message in errors.items())
    first = next(iter(errors))
    results: list[BatchItemResult] = [
        {
            "index": index,
            "success": False,
            "context_id": id_,
            "error": errors.get(index, f"not {verb}, because the batch is atomic"),
        }
        for index, id_ in enumerate(ids)
    ]
    batch: BatchResult = {
        "success": False,
        "total": len(ids),
        "succeeded": 0,
        "failed": len(ids),
        "results": results,
        "message": f"Validation failed for {len(errors)} of {len(ids)} entries. First error at "
        f"index {first}: {errors[first]}",
    }
    return error(
        field,
        f"nothing was {verb}, because the batch is atomic and {listed}. Correct this, or pass "
        "atomic=false",
        errors=[{"index": index, "error": message} for index, message in errors.items()],
        batch=batch,
    )


async def _write(
    items: Mapping[int, Item],
    write: Callable[[Sequence[Item]], Awaitable[Sequence[Written]]],
    atomic: bool,
) -> tuple[dict[int, Written], dict[int, str]]:
    """Write all items in one transaction; where it fails and is not atomic, each in its own."""
    if not items:
        return {}, {}
    try:
        return dict(zip(items, await write(list(items.values())), strict=True)), {}
    except InvalidInput:
        if atomic:
            raise
    written: dict[int, Written] = {}
    failures: dict[int, str] = {}
    for index, item in items.items():
        try:
            [written[index]] = await write([item])
        except CtxError as error:
            failures[index] = error.message
    return written, failures


def _id_of(item: Any) -> int | None:
    value = item.get("context_id") if isinstance(item, Mapping) else None
    return value if isinstance(value, int) else None
