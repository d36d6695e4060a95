"""From a file to chunks that only lack their dense vectors: what runs in worker processes."""

import gc
import logging
import multiprocessing
import os
import signal
import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from services.core.vectors.types import Sparse
from services.indexer.chunking.chunker import chunk
from services.indexer.indexing.report import Failure
from services.indexer.schema.points import head, lexical_vector, payload, point_id
from services.indexer.source.walk import Limits, SourceFile, look

log = logging.getLogger(__name__)

# Raised whenever the chunks, terms or payload of the same content change: every file is then
# written again by the next run.
INDEX_VERSION = 3

# Objects made between two looks for cycles: chunks have none, and looking took a tenth of the time.
GC_THRESHOLD = 100_000


@dataclass(frozen=True)
class Job:
    """Some files of a workspace, prepared together so that a worker is asked less often."""

    root: Path
    repo: str
    indexed_at: datetime
    limits: Limits
    files: Sequence[SourceFile]


class PreparedChunk(NamedTuple):
    """A point without its dense vector, and the head of the text that this is computed from."""

    id: str
    head: str
    lexical: Sparse
    payload: dict[str, Any]

    @property
    def text(self) -> str:
        """What the dense model reads: the code, and where it stands."""
        return f"{self.head}\n{self.payload['text']}"


@dataclass(frozen=True)
class Prepared:
    """A file (its content left behind) and its chunks."""

    file: SourceFile
    chunks: Sequence[PreparedChunk]


def prepare(job: Job) -> list[Prepared | Failure]:
    """Every file of the job, prepared or failed. A file cannot spoil the others."""
    return [_prepare(job, file) for file in job.files]


def _prepare(job: Job, file: SourceFile) -> Prepared | Failure:
    try:
        current = file if file.content is not None else look(job.root, file.path, job.limits)
        if current is None:
            return Failure(file.path, "gone")
        if not isinstance(current, SourceFile):
            return Failure(file.path, current.reason)
        return Prepared(replace(current, content=None), _chunks(job, current))
    except Exception as error:  # noqa: BLE001 - whatever one file provokes, the others go on
        log.warning("%s cannot be indexed: %r", file.path, error)
        return Failure(file.path, f"{type(error).__name__}: {error}")


def _chunks(job: Job, file: SourceFile) -> list[PreparedChunk]:
    found = chunk(file.text(job.root), file.language)
    return [
        PreparedChunk(
            point_id(job.repo, file, index),
            head(file.path, each.symbol_path),
            _packed(lexical_vector(file.path, each)),
            payload(job.repo, file, each, job.indexed_at),
        )
        for index, each in enumerate(found)
    ]


def _packed(vector: Sparse) -> Sparse:
    """In arrays: 8 bytes a term, and nothing to do for who sends them to another process."""
    return Sparse(array("I", vector.indices), array("f", vector.values))


def enter_worker() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when the parent is gone, however it ended:
    the pool's pipes stay open in the other workers, so that a killed parent is not noticed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(GC_THRESHOLD)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
