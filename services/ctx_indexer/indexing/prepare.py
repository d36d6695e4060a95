"""Turns files into points that lack their dense vectors; runs in worker processes.

Secrets are taken out of a text before anything else sees it: no chunk, term or symbol holds one.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from ctx_core.secrets.redaction import redact
from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.indexing.report import Failure
from ctx_indexer.schema.points import ChunkPoint, chunk_point
from ctx_indexer.source.walk import FileLimits, SourceFile, inspect_file
from ctx_indexer.syntax.outline import outline

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """Files of a workspace that a worker prepares at once."""

    root: Path
    repo: str
    indexed_at: datetime
    limits: FileLimits
    files: Sequence[SourceFile]


@dataclass(frozen=True)
class Prepared:
    """A file, without its content, the points of its chunks, and its redacted secrets by kind."""

    file: SourceFile
    points: Sequence[ChunkPoint]
    redacted: Mapping[str, int] = field(default_factory=dict)


def prepare(job: Job) -> list[Prepared | Failure]:
    """Prepare each file of a job; one that fails leaves the others alone. Blocks."""
    return [_prepare(job, file) for file in job.files]


def _prepare(job: Job, file: SourceFile) -> Prepared | Failure:
    try:
        current = (
            file if file.content is not None else inspect_file(job.root, file.path, job.limits)
        )
        if current is None:
            return Failure(file.path, "gone")
        if not isinstance(current, SourceFile):
            return Failure(file.path, current.reason)
        return _prepare_text(job, current)
    except Exception as error:  # noqa: BLE001 - one file must not end the run
        log.warning("%s cannot be indexed: %r", file.path, error)
        return Failure(file.path, f"{type(error).__name__}: {error}")


def _prepare_text(job: Job, file: SourceFile) -> Prepared:
    redaction = redact(file.text(job.root), file.path)
    outlined = outline(redaction.text, file.language, with_symbols=True)
    points = [
        chunk_point(
            job.repo, file, index, each, job.indexed_at, outlined.symbols if index == 0 else None
        )
        for index, each in enumerate(chunk(outlined))
    ]
    return Prepared(replace(file, content=None), points, redaction.kinds)
