"""Imports the summaries and relationships that another conversation system left in a folder."""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ctx_core.blocking import DISK
from ctx_core.clock import utc_now
from ctx_core.secrets.screen import SecretScreen
from ctx_memory.conversations.requests import DEFAULT_WEIGHT, ContextId, Text
from ctx_memory.records.conversations.imports import (
    ImportedConversation,
    ImportedFolder,
    ImportedRollup,
    ImportRecords,
)
from ctx_memory.records.conversations.relations import Relation, RelationType
from ctx_memory.records.conversations.summaries import SummaryDraft, SummaryLevel
from ctx_memory.records.entry import moment

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 5_000_000  # a summary is a few thousand
MAX_FILES = 100_000
MAX_VERSION = 1_000_000
WRITTEN_BY = "imported"
QUOTES = ("codeBlocks", "keyInsights")  # details that quote messages
GRAPHS = ("context-graph.json", "graph_data.json")  # files of relations; the first also in `graph/`
BOOKKEEPING = ".metadata.json"  # ends the names of files that hold counters alone

T = TypeVar("T", bound=BaseModel)
Imported = TypeVar("Imported", ImportedConversation, ImportedRollup)
Milliseconds = Annotated[float | None, Field(ge=0, le=253_402_300_799_000)]  # to the year 9999


class _File(BaseModel):
    """A file of the imported folder; fields that a model does not name are ignored."""

    model_config = ConfigDict(extra="ignore")


class _Summary(_File):
    context_id: ContextId = Field(alias="contextId")
    summary: Text
    last_updated: Milliseconds = Field(None, alias="lastUpdated")
    message_count: int = Field(0, alias="messageCount", ge=0)
    version: int = Field(1, ge=1, le=MAX_VERSION)
    importance: float = Field(0.5, alias="importanceScore", ge=0, le=1)
    code_blocks: list[Any] = Field([], alias="codeBlocks")
    insights: list[str] = Field([], alias="keyInsights")


class _Hierarchy(_File):
    """A hierarchy, whose parent is `contextId` in files and `parentContextId` in the contract."""

    parent: ContextId = Field(validation_alias=AliasChoices("contextId", "parentContextId"))
    children: list[ContextId] = Field([], alias="childContextIds")
    summary: Text
    last_updated: Milliseconds = Field(None, alias="lastUpdated")
    version: int = Field(1, ge=1, le=MAX_VERSION)


class _Meta(_File):
    id: ContextId
    context_ids: list[ContextId] = Field([], alias="contextIds")
    summary: Text
    last_updated: Milliseconds = Field(
        None, validation_alias=AliasChoices("lastUpdated", "updatedAt")
    )
    version: int = Field(1, ge=1, le=MAX_VERSION)


class _Edge(_File):
    source: ContextId
    target: ContextId
    type: RelationType
    weight: float = Field(DEFAULT_WEIGHT, ge=0, le=1)


@dataclass(frozen=True)
class _Texts:
    """The texts of a summary, as the screen for secrets takes them."""

    text: str
    metadata: Mapping[str, Any]


async def import_folder(records: ImportRecords, folder: Path, secrets: SecretScreen) -> None:
    """Import the summaries and relations of a folder once, and log how many were new."""
    found = await DISK.run(_read, folder)
    screened = replace(
        found,
        conversations=[await _screened(each, secrets) for each in found.conversations],
        rollups=[await _screened(each, secrets) for each in found.rollups],
    )
    added = await records.add_once(str(folder), screened)
    if added is None:
        return
    log.info(
        "imported %d contexts, %d summaries of summaries and %d relationships from %s",
        len(added.conversations), len(added.rollups), len(added.relations), folder,
    )  # fmt: skip
    if added.skipped:
        log.warning("%d parts of %s could not be read and were skipped", added.skipped, folder)


async def _screened(found: Imported, secrets: SecretScreen) -> Imported:
    """Redact the secrets of a summary where that is set; log each suspected one."""
    draft = found.summary
    quoted = {name: draft.details[name] for name in QUOTES if name in draft.details}
    screened = await secrets.screen(_Texts(draft.text, quoted))
    for warning in screened.warnings:
        log.warning("context %s: %s", found.id, warning)
    clean = screened.value
    details = {**draft.details, **clean.metadata}
    return replace(found, summary=replace(draft, text=clean.text, details=details))


def _read(folder: Path) -> ImportedFolder:
    summaries, no_summaries = _parse(_Summary, _files(folder, "*.json", "summaries/*.json"))
    hierarchies, no_hierarchies = _parse(
        _Hierarchy, _files(folder, "hierarchical-summaries/*.json")
    )
    metas, no_metas = _parse(_Meta, _files(folder, "meta-summaries/*.json"))
    edges, no_edges = _edges(folder)
    conversations = {each.context_id: _conversation(each) for each in summaries}
    children = [
        Relation(each.parent, child, RelationType.PARENT, DEFAULT_WEIGHT)
        for each in hierarchies
        for child in each.children
    ]
    # The weight that the graph has goes before the default one.
    relations = {(each.source, each.target, each.type): each for each in [*children, *edges]}
    return ImportedFolder(
        list(conversations.values()),
        [*map(_hierarchy, hierarchies), *map(_meta, metas)],
        list(relations.values()),
        no_summaries + no_hierarchies + no_metas + no_edges,
    )


def _files(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield the files of a folder that match a pattern: no links, relations or counters."""
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    for path in sorted(paths)[:MAX_FILES]:
        is_other = path.name in GRAPHS or path.name.endswith(BOOKKEEPING)
        if _is_readable(path) and not is_other:
            yield path


def _is_readable(path: Path) -> bool:
    is_linked = path.is_symlink() or path.parent.is_symlink()
    return path.is_file() and not is_linked and path.stat().st_size <= MAX_FILE_BYTES


def _parse(kind: type[T], paths: Iterable[Path]) -> tuple[list[T], int]:
    """Read files as one kind; return them, and the number of files that are not of that kind."""
    found: list[T] = []
    skipped = 0
    for path in paths:
        try:
            found.append(kind.model_validate(json.loads(path.read_bytes())))
        except (OSError, ValueError, RecursionError, ValidationError):
            skipped += 1
    return found, skipped


def _edges(folder: Path) -> tuple[list[Relation], int]:
    found: list[Relation] = []
    skipped = 0
    for path in (folder / name for name in (*GRAPHS, f"graph/{GRAPHS[0]}")):
        if not _is_readable(path):
            continue
        try:
            edges = json.loads(path.read_bytes())["edges"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            skipped += 1
            continue
        for edge in edges if isinstance(edges, list) else []:
            try:
                parsed = _Edge.model_validate(edge)
            except ValidationError:
                skipped += 1
            else:
                relation = Relation(parsed.source, parsed.target, parsed.type, parsed.weight)
                found.append(relation)
    return found, skipped


def _conversation(parsed: _Summary) -> ImportedConversation:
    details = {
        "messageCount": parsed.message_count,
        "importanceScore": parsed.importance,
        "codeBlocks": [code for block in parsed.code_blocks if (code := _code(block))],
        "keyInsights": parsed.insights,
    }
    draft = SummaryDraft(parsed.summary, WRITTEN_BY, details)
    updated = _moment(parsed.last_updated)
    return ImportedConversation(
        parsed.context_id, draft, parsed.version, parsed.message_count, updated
    )


def _hierarchy(parsed: _Hierarchy) -> ImportedRollup:
    details = {"childContextIds": list(parsed.children)}
    draft = SummaryDraft(parsed.summary, WRITTEN_BY, details)
    updated = _moment(parsed.last_updated)
    return ImportedRollup(SummaryLevel.HIERARCHY, parsed.parent, draft, parsed.version, updated)


def _meta(parsed: _Meta) -> ImportedRollup:
    draft = SummaryDraft(parsed.summary, WRITTEN_BY, {"contextIds": list(parsed.context_ids)})
    updated = _moment(parsed.last_updated)
    return ImportedRollup(SummaryLevel.META, parsed.id, draft, parsed.version, updated)


def _moment(milliseconds: float | None) -> str:
    """Return a time in milliseconds since 1970 as the tables have it; now for None."""
    if milliseconds is None:
        return moment(utc_now())
    return moment(datetime.fromtimestamp(milliseconds / 1000, UTC))


def _code(block: Any) -> str | None:
    """Return the code of an imported block: `"a()"` or `{"code": "a()"}` → `a()`; else None."""
    if isinstance(block, dict):
        block = block.get("code")
    return block if isinstance(block, str) else None
