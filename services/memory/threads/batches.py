"""Many entries stored or changed in one call: all or nothing, or each on its own."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from services.core.errors import CtxError, InvalidInput
from services.memory.records.types import Change, Draft
from services.memory.records.validation import check_change, check_draft
from services.memory.threads.entries import Entries
from services.memory.threads.requests import ChangeArgument, EntryArgument, checked
from services.memory.threads.responses import BatchAnswer, BatchItem

Work = TypeVar("Work")
Done = TypeVar("Done")


class Batches:
    """What `store_context_batch` and `update_context_batch` do."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    async def store(self, items: Sequence[Any], atomic: bool) -> BatchAnswer:
        drafts, wrong = _sorted_out(items, self._draft)
        _refuse("entries", wrong, atomic, "stored")
        stored, failed = await _written(drafts, self._entries.records.add, atomic)
        results: dict[int, BatchItem] = {
            index: {
                "index": index,
                "success": True,
                "context_id": id_,
                "error": None,
                "thread_id": drafts[index].thread or "",
            }
            for index, (id_, _, _) in stored.items()
        }
        uuids = [uuid for _, uuid, _ in stored.values()]
        return await self._answer("Stored", len(items), results, {**wrong, **failed}, uuids)

    async def update(self, items: Sequence[Any], atomic: bool) -> BatchAnswer:
        changes, wrong = _sorted_out(items, self._change)
        _refuse("updates", wrong, atomic, "updated")
        changed, failed = await _written(changes, self._entries.change, atomic)
        results: dict[int, BatchItem] = {
            index: {
                "index": index,
                "success": True,
                "context_id": id_,
                "error": None,
                "updated_fields": fields,
            }
            for index, (id_, fields) in changed.items()
        }
        answer = await self._answer("Updated", len(items), results, {**wrong, **failed})
        for item in answer["results"]:
            if not item["success"]:
                item["context_id"] = _id_of(items[item["index"]])
        return answer

    def _draft(self, item: Any) -> Draft:
        draft = checked(EntryArgument, item).draft(self._entries.collection, self._entries.limits)
        check_draft(draft, self._entries.records.dialect)
        return draft

    def _change(self, item: Any) -> Change:
        change = checked(ChangeArgument, item).change(self._entries.limits)
        check_change(change, self._entries.records.dialect)
        return change

    async def _answer(
        self,
        verb: str,
        total: int,
        results: dict[int, BatchItem],
        errors: Mapping[int, str],
        uuids: Sequence[str] | None = None,
    ) -> BatchAnswer:
        for index, error in errors.items():
            results[index] = {
                "index": index,
                "success": False,
                "context_id": None,
                "error": error,
            }
        succeeded = total - len(errors)
        answer: BatchAnswer = {
            "success": not errors,
            "total": total,
            "succeeded": succeeded,
            "failed": len(errors),
            "results": [results[index] for index in range(total)],
            "message": f"{verb} {succeeded} of {total} entries",
        }
        ids = [item["context_id"] for item in answer["results"] if item["context_id"] is not None]
        return {**answer, **await self._entries.settled(ids, uuids)} if ids else answer


def _sorted_out(
    items: Sequence[Any], read: Callable[[Any], Work]
) -> tuple[dict[int, Work], dict[int, str]]:
    """By their places: the items that can be done, and what is wrong with the others."""
    works: dict[int, Work] = {}
    wrong: dict[int, str] = {}
    for index, item in enumerate(items):
        try:
            works[index] = read(item)
        except InvalidInput as error:
            wrong[index] = error.message
    return works, wrong


def _refuse(field: str, wrong: Mapping[int, str], atomic: bool, verb: str) -> None:
    if wrong and atomic:
        told = "; ".join(f"{field}.{index}.{message}" for index, message in wrong.items())
        raise InvalidInput(
            field,
            f"nothing was {verb}, because the batch is atomic and {told}. Correct this, or pass "
            "atomic=false",
            errors=[{"index": index, "error": message} for index, message in wrong.items()],
        )


async def _written(
    works: Mapping[int, Work],
    write: Callable[[Sequence[Work]], Awaitable[Sequence[Done]]],
    atomic: bool,
) -> tuple[dict[int, Done], dict[int, str]]:
    """In one transaction; if that fails and it may, each in its own."""
    if not works:
        return {}, {}
    try:
        return dict(zip(works, await write(list(works.values())), strict=True)), {}
    except InvalidInput:
        if atomic:
            raise
    done: dict[int, Done] = {}
    failed: dict[int, str] = {}
    for index, work in works.items():
        try:
            [done[index]] = await write([work])
        except CtxError as error:
            failed[index] = error.message
    return done, failed


def _id_of(item: Any) -> int | None:
    value = item.get("context_id") if isinstance(item, Mapping) else None
    return value if isinstance(value, int) else None
