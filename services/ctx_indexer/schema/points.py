"""A chunk as a Qdrant point: its id, its vectors, its payload, and the collection's spec."""

from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ctx_core.text.bm25 import Field, fields_vector
from ctx_core.vectors.points import Point, Sparse
from ctx_core.vectors.specs import (
    BM25,
    DENSE,
    CollectionInfo,
    CollectionSpec,
    NamedModel,
    hybrid_spec,
)
from ctx_indexer.chunking.chunker import Chunk
from ctx_indexer.languages.registry import language_named
from ctx_indexer.schema.fields import INDEXES
from ctx_indexer.schema.payload import CACHED_PATHS, ChunkPayload, embedding_text
from ctx_indexer.source.walk import SourceFile
from ctx_indexer.syntax.symbols.table import SymbolTable, file_mention

# Raised whenever the chunks, terms or payload of unchanged content change: the next run then
# writes every file again. Where one language changes, its revision is raised instead.
INDEX_VERSION = 13
REVISION_STEP = 1_000  # more than there will be index versions

PURPOSE = "code"
REBUILD_COMMAND = "ctx index --recreate --collection {collection}"
MODEL_SETTING = "EMBEDDING_MODEL"
UUID_BYTES = 16

# Weights of a term by its field; the benchmark's ablations chose them.
PATH_WEIGHT = 2.0
SYMBOL_WEIGHT = 2.0


class ChunkPoint(NamedTuple):
    """A point that lacks its dense vector, and the text to compute that from."""

    id: str
    embedding_text: str
    bm25: Sparse
    payload: dict[str, Any]

    def with_dense(self, dense: Sequence[float]) -> Point:
        """Complete the point."""
        return Point(self.id, {DENSE: dense, BM25: self.bm25}, self.payload)


def index_version(language: str) -> int:
    """Return the version of files of a language: `python` → 13, at revision 1 → 1013."""
    return INDEX_VERSION + REVISION_STEP * language_named(language).revision


def spec(model: NamedModel) -> CollectionSpec:
    """Return the spec of a collection of code for a model."""
    return hybrid_spec(
        model,
        INDEXES,
        purpose=PURPOSE,
        rebuild_command=REBUILD_COMMAND,
        model_setting=MODEL_SETTING,
    )


def chunk_point(
    repo: str,
    file: SourceFile,
    index: int,
    chunk: Chunk,
    indexed_at: datetime,
    symbols: SymbolTable | None = None,
) -> ChunkPoint:
    """Build the point of a file's chunk; `index` is its position among them.

    The symbol table of the file goes with its first chunk.
    """
    payload = ChunkPayload(
        repo=repo,
        path=file.path,
        language=file.language,
        kind=chunk.kind,
        kinds=chunk.kinds,
        symbol=chunk.symbol,
        symbol_path=chunk.symbol_path,
        symbols=tuple(name.lower() for name in chunk.symbols),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        def_line=chunk.def_line,
        definitions=chunk.definitions,
        imports=chunk.imports,
        calls=chunk.calls,
        flags=file.flags._replace(is_test=file.flags.is_test or chunk.is_test),
        blob=file.blob,
        modified_at=file.modified,
        indexed_at=indexed_at.astimezone(UTC).timestamp(),
        text=chunk.text,
        mentions=(file_mention(file.path), *symbols.mentions) if symbols else (),
        symbol_table=symbols.encode() if symbols else "",
    )
    return ChunkPoint(
        point_id(repo, file.path, file.blob, index),
        embedding_text(payload),
        _compact(bm25_vector(file.path, chunk)),
        payload.encode(),
    )


def point_id(repo: str, path: str, blob: str, index: int) -> str:
    """Derive a UUID from repo, path, content and position: writing again changes nothing."""
    key = f"{repo}\0{path}\0{blob}\0{index}".encode("utf-8", "surrogatepass")
    digest = blake2b(key, digest_size=UUID_BYTES).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def bm25_vector(path: str, chunk: Chunk) -> Sparse:
    """Weigh the BM25 terms of a chunk's text, its path and its symbols."""
    return fields_vector(
        Field(chunk.text, 1.0),
        Field(_path_words(path), PATH_WEIGHT),
        Field(" ".join(chunk.symbols), SYMBOL_WEIGHT),
    )


@lru_cache(maxsize=CACHED_PATHS)
def _path_words(path: str) -> str:
    return str(PurePosixPath(path).with_suffix("")).replace("/", " ")


def _compact(vector: Sparse) -> Sparse:
    """Store a vector in arrays: 8 bytes per term, and cheap to send to another process."""
    return Sparse(array("I", vector.indices), array("f", vector.values))


def holds_code(info: CollectionInfo) -> bool:
    """Whether a collection is one of code; those before INDEX_VERSION 4 do not say so."""
    return info.spec.purpose == PURPOSE
