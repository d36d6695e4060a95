"""Imports the summaries that another conversation system left in a folder."""

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.core.clock import utc_now
from services.memory.conversations.requests import ContextId, Text
from services.memory.records.conversations.store import ConversationRecords
from services.memory.records.conversations.types import ImportedConversation, SummaryDraft
from services.memory.records.types import moment

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 5_000_000  # a summary is a few thousand
MAX_FILES = 100_000
WRITTEN_BY = "imported"


class _Summary(BaseModel):
    """A file of that system; what else is in it is ignored."""

    model_config = ConfigDict(extra="ignore")

    context_id: ContextId = Field(alias="contextId")
    summary: Text
    last_updated: float | None = Field(None, alias="lastUpdated", ge=0, le=253_402_300_799_000)
    message_count: int = Field(0, alias="messageCount", ge=0)
    version: int = Field(1, ge=1, le=1_000_000)
    importance: float = Field(0.5, alias="importanceScore", ge=0, le=1)
    code_blocks: list[Any] = Field([], alias="codeBlocks")
    insights: list[str] = Field([], alias="keyInsights")


async def import_folder(records: ConversationRecords, folder: Path) -> None:
    """Import the summaries of a folder, unless that was done before; log what was imported."""
    found, skipped = await asyncio.to_thread(_read, folder)
    added = await records.import_once(str(folder), found)
    if added is not None:
        log.info("imported %d of %d contexts from %s", added, len(found), folder)
        if skipped:
            log.warning("%d files in %s hold no summary and were skipped", skipped, folder)


def _read(folder: Path) -> tuple[list[ImportedConversation], int]:
    found: dict[str, ImportedConversation] = {}
    skipped = 0
    for path in _files(folder):
        try:
            parsed = _Summary.model_validate(json.loads(path.read_bytes()))
        except (OSError, ValueError, RecursionError, ValidationError):
            skipped += 1
            continue
        found[parsed.context_id] = _conversation(parsed)
    return list(found.values()), skipped


def _files(folder: Path) -> Iterator[Path]:
    """Yield JSON files of the folder and of `summaries` in it; links are not followed."""
    paths = [*folder.glob("*.json"), *folder.glob("summaries/*.json")]
    for path in sorted(paths)[:MAX_FILES]:
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES:
            yield path


def _conversation(parsed: _Summary) -> ImportedConversation:
    updated = (
        utc_now()
        if parsed.last_updated is None
        else datetime.fromtimestamp(parsed.last_updated / 1000, UTC)
    )
    details = {
        "messageCount": parsed.message_count,
        "importanceScore": parsed.importance,
        "codeBlocks": [code for block in parsed.code_blocks if (code := _code(block))],
        "keyInsights": parsed.insights,
    }
    draft = SummaryDraft(parsed.summary, WRITTEN_BY, details)
    return ImportedConversation(
        parsed.context_id, draft, parsed.version, parsed.message_count, moment(updated)
    )


def _code(block: Any) -> str | None:
    """Return the code of a block, which that system wrote as a text or as an object."""
    if isinstance(block, dict):
        block = block.get("code")
    return block if isinstance(block, str) else None
