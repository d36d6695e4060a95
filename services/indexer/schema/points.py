"""A chunk as a Qdrant point: its vectors, its payload, and the shape of the collection."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from services.core.text.bm25 import Field, fields_document
from services.core.vectors.types import (
    CollectionInfo,
    CollectionSpec,
    IndexKind,
    NamedModel,
    Sparse,
    hybrid_spec,
)
from services.indexer.chunking.chunker import Chunk
from services.indexer.schema.features import WEIGHED, features, packed
from services.indexer.source.walk import SourceFile

PURPOSE = "code"
REBUILD_COMMAND = "ctx index --recreate --collection {collection}"
MODEL_SETTING = "EMBEDDING_MODEL"
TOLD = "told"  # the payload field with what results show
UUID_BYTES = 16

# How much a word counts where it stands: the benchmark's ablations decide these.
PATH_WEIGHT = 2.0
SYMBOL_WEIGHT = 2.0

INDEXES = {
    "repo": IndexKind.KEYWORD,
    "path": IndexKind.KEYWORD,
    "dirs": IndexKind.KEYWORD,
    "ext": IndexKind.KEYWORD,
    "language": IndexKind.KEYWORD,
    "kind": IndexKind.KEYWORD,
    "symbols": IndexKind.KEYWORD,
    "is_test": IndexKind.BOOL,
    "is_config": IndexKind.BOOL,
    "is_docs": IndexKind.BOOL,
}


def spec(model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of code, built with this model."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSE,
        rebuild_command=REBUILD_COMMAND,
        model_setting=MODEL_SETTING,
    )


def point_id(repo: str, file: SourceFile, index: int) -> str:
    """The same content at the same place has the same id: writing it again changes nothing."""
    told = f"{repo}\0{file.path}\0{file.blob}\0{index}".encode("utf-8", "surrogatepass")
    found = blake2b(told, digest_size=UUID_BYTES).hexdigest()
    return f"{found[:8]}-{found[8:12]}-{found[12:16]}-{found[16:20]}-{found[20:]}"


def lexical_vector(path: str, chunk: Chunk) -> Sparse:
    """BM25 terms of the code, its path and its symbols."""
    return fields_document(
        Field(chunk.text, 1.0),
        Field(_place(path).words, PATH_WEIGHT),
        Field(" ".join(chunk.symbols), SYMBOL_WEIGHT),
    )


def payload(repo: str, file: SourceFile, chunk: Chunk, indexed_at: datetime) -> dict[str, Any]:
    """What filters compare as it is; what ranking weighs, and what results show, in one piece each.

    The embedded engine takes 7 microseconds for every text it is given, however short: a chunk in
    twenty-five texts cost more than its two vectors.
    """
    location = _place(file.path)
    compared: dict[str, Any] = {
        "repo": repo,
        "path": file.path,
        "dirs": location.folders,
        "ext": location.extension,
        "language": file.language,
        "kind": chunk.kind,
        "symbols": [name.lower() for name in chunk.symbols],
        "is_test": file.is_test,
        "is_config": file.is_config,
        "is_docs": file.is_docs,
    }
    told = _told(file, chunk, indexed_at)
    weighed = packed(features({**compared, **told}))
    return {**compared, WEIGHED: weighed, TOLD: json.dumps(told), "text": chunk.text}


class _Place(NamedTuple):
    """What a path says; every chunk of a file asks."""

    words: str
    folders: list[str]
    extension: str


@lru_cache(maxsize=8)
def _place(path: str) -> _Place:
    parsed = PurePosixPath(path)
    return _Place(
        words=str(parsed.with_suffix("")).replace("/", " "),
        folders=[str(parent) for parent in parsed.parents if str(parent) != "."],
        extension=parsed.suffix.removeprefix(".").lower(),
    )


def _told(file: SourceFile, chunk: Chunk, indexed_at: datetime) -> dict[str, Any]:
    return {
        "symbol": chunk.symbol,
        "symbol_path": chunk.symbol_path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "def_line": chunk.def_line,
        "imports": chunk.imports,
        "calls": chunk.calls,
        "blob": file.blob,
        "is_generated": file.is_generated,
        "is_vendored": file.is_vendored,
        "modified_at": file.modified,
        "indexed_at": indexed_at.astimezone(UTC).timestamp(),
    }


def embedded_text(payload: Mapping[str, Any]) -> str:
    """What the dense model reads of a stored chunk: the code, and where it stands."""
    return f"{head(payload['path'], facts(payload)['symbol_path'])}\n{payload['text']}"


def head(path: str, symbol_path: str) -> str:
    return f"{path} {symbol_path}"


def facts(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that a stored chunk says of itself; imports and calls are [name, line]."""
    return {**payload, **json.loads(payload[TOLD])}


def holds_code(info: CollectionInfo) -> bool:
    """Whether a collection is one of ours; those of an earlier version do not say so."""
    return info.spec.purpose == PURPOSE
