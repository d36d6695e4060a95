"""Compares entries in Qdrant with the records, and corrects Qdrant, for `ctx doctor`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctx.finding import Finding
from ctx_core.engine.engine import open_engine
from ctx_core.errors import CtxError
from ctx_core.settings import Settings
from ctx_core.vectors.folder_lock import Owner
from ctx_core.vectors.specs import CollectionInfo
from ctx_memory.records.health import examine

if TYPE_CHECKING:
    from ctx_memory.projection.compare import Drift
    from ctx_memory.service import EntryStorage

FIX = "Run `ctx doctor --fix`."

Confirm = Callable[[str], bool]
"""Asks the user whether to delete what a text describes."""


async def records_findings(
    settings: Settings, owner: Owner | None, collections: Sequence[CollectionInfo]
) -> list[Finding]:
    """Check the records, and whether Qdrant agrees with them, without changing either."""
    try:
        health = await examine(settings.records_url)
        if health.is_new and (held := _entry_points(settings, collections)):
            detail = f"{health.name} is empty or does not exist, and Qdrant holds {held:,} points"
            fix = "Put the records back from a backup before you start a server."
            return [Finding("records", "fail", f"{detail} of entries", fix)]
        if not health.is_current:
            return [Finding("records", "ok", f"{health.name}, made ready at the next start")]
        drifts = {} if _is_owned(settings, owner) else await _survey(settings)
    except CtxError as error:
        return [Finding("records", "fail", error.message, "Do what the message says.")]
    detail = f"{health.name}, {health.entries} entries, {health.waiting} wait for Qdrant"
    found = [finding for name, drift in drifts.items() for finding in _drifted(name, drift)]
    if health.problems:
        detail += f"; {len(health.problems)} cannot be written: {health.problems[0]}"
        fix = "Correct these entries, or delete them."
        return [Finding("records", "warn", detail, fix), *found]
    return [Finding("records", "ok", detail), *found]


async def fix_entries(settings: Settings, owner: Owner | None, confirm: Confirm) -> list[Finding]:
    """Make Qdrant equal to the records; what they never knew is deleted where that is confirmed."""
    if _is_owned(settings, owner):
        assert owner is not None
        detail = f"not done: process {owner.pid} ({owner.command}) owns the vectors"
        fix = "Stop it and run `ctx doctor --fix` again; its next start heals most things too."
        return [Finding("reconcile", "fail", detail, fix)]
    try:
        return await _fix(settings, confirm)
    except CtxError as error:
        return [Finding("reconcile", "fail", error.message, "Do what the message says.")]


async def _fix(settings: Settings, confirm: Confirm) -> list[Finding]:
    from ctx_memory.service import open_storage

    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_storage(settings, engine) as storage,
    ):
        copies = await _remove_unknown(storage, settings.data_dir, confirm)
        drifts = await storage.healer.reconcile()
    found = [Finding("reconcile", "ok", _corrected(name, drift)) for name, drift in drifts.items()]
    return found + [
        Finding("reconcile", "ok", f"{name}: unknown entries removed, a copy is {copy}")
        for name, copy in copies.items()
    ]


async def _remove_unknown(
    storage: "EntryStorage", folder: Path, confirm: Confirm
) -> Mapping[str, Path]:
    drifts = await storage.healer.survey()
    unknown = {name: drift for name, drift in drifts.items() if drift.unknown}
    if not unknown:
        return {}
    counts = ", ".join(
        f"{len(drift.unknown):,} of {name} (the records have {drift.entries:,})"
        for name, drift in unknown.items()
    )
    question = (
        f"Entries that Qdrant holds and the records never knew: {counts}. They may be the last "
        f"copies. Delete them, after a copy to {folder}?"
    )
    return await storage.healer.remove_unknown(folder) if confirm(question) else {}


async def _survey(settings: Settings) -> "dict[str, Drift]":
    from ctx_memory.service import open_storage

    async with (
        open_engine(settings, settings.memory_model) as engine,
        open_storage(settings, engine) as storage,
    ):
        return await storage.healer.survey()


def _drifted(name: str, drift: "Drift") -> list[Finding]:
    """Describe how a collection differs; nothing where it does not."""
    found = [_unknown(name, drift)] if drift.unknown else []
    if drift.missing or drift.outdated or drift.orphaned:
        detail = (
            f"{name}: {len(drift.missing)} entries missing, {len(drift.outdated)} outdated, "
            f"{len(drift.orphaned)} deleted ones left"
        )
        found.append(Finding("entries", "warn", detail, f"{FIX} The next start does the same."))
    return found


def _unknown(name: str, drift: "Drift") -> Finding:
    detail = (
        f"{name}: {len(drift.unknown):,} entries in Qdrant that the records, with "
        f"{drift.entries:,} entries there, never knew: the records were emptied or put back from "
        "an older copy, or another installation uses the same collection"
    )
    fix = "Put the right records back, or delete these entries: `ctx doctor --fix --yes`."
    return Finding("entries", "warn" if drift.entries else "fail", detail, fix)


def _corrected(name: str, drift: "Drift") -> str:
    return (
        f"{name}: {len(drift.missing)} missing and {len(drift.outdated)} outdated "
        f"entries written, {len(drift.orphaned)} orphaned entries removed"
    )


def _entry_points(settings: Settings, collections: Sequence[CollectionInfo]) -> int:
    """Count the points in the configured collections of entries."""
    names = {
        settings.memory_collection_name,
        settings.threads_collection_name,
        settings.conversations_collection_name,
    }
    return sum(info.points_count for info in collections if info.name in names)


def _is_owned(settings: Settings, owner: Owner | None) -> bool:
    """Whether another process uses the vectors of the embedded engine."""
    return owner is not None and settings.qdrant_url is None
