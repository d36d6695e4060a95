"""A chunk as a Qdrant point: its vectors, its payload, and the shape of the collection."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID, uuid5

from services.core.embedding.protocol import Embedder
from services.core.sparse import Field, fields_document
from services.core.vectors.model import CollectionSpec, IndexKind, Model, Point, Sparse
from services.indexer.chunk import Chunk
from services.indexer.references import Reference
from services.indexer.walk import SourceFile

DENSE, LEXICAL = "dense", "lex"
NAMESPACE = UUID("6f0c7c1e-5f0b-4c43-9b53-0d8a3f0d5c11")  # of point ids; never changes
HASH_BYTES = 16

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
    "imports": IndexKind.KEYWORD,
    "calls": IndexKind.KEYWORD,
    "blob": IndexKind.KEYWORD,
    "is_test": IndexKind.BOOL,
    "is_config": IndexKind.BOOL,
    "is_docs": IndexKind.BOOL,
}


def spec(embedder: Embedder) -> CollectionSpec:
    """A collection of code, built with this model."""
    return CollectionSpec(
        dense={DENSE: embedder.dims},
        sparse=[LEXICAL],
        indexes=INDEXES,
        model=Model(embedder.name, embedder.dims),
    )


def point_id(repo: str, file: SourceFile, index: int) -> str:
    """The same content at the same place has the same id: writing it again changes nothing."""
    return str(uuid5(NAMESPACE, f"{repo}\0{file.path}\0{file.blob}\0{index}"))


def dense_text(path: str, chunk: Chunk) -> str:
    """What the dense model reads: the code, and where it stands."""
    return f"{path} {chunk.symbol_path}\n{chunk.text}"


def lexical_vector(path: str, chunk: Chunk) -> Sparse:
    """BM25 terms of the code, its path and its symbols."""
    place = str(PurePosixPath(path).with_suffix("")).replace("/", " ")
    return fields_document(
        Field(chunk.text, 1.0),
        Field(place, PATH_WEIGHT),
        Field(" ".join(chunk.symbols), SYMBOL_WEIGHT),
    )


def payload(repo: str, file: SourceFile, chunk: Chunk, indexed_at: datetime) -> dict[str, Any]:
    """Everything that filters compare, ranking weighs and results show."""
    path = PurePosixPath(file.path)
    return {
        "repo": repo,
        "path": file.path,
        "dirs": [str(parent) for parent in path.parents if str(parent) != "."],
        "ext": path.suffix.removeprefix(".").lower(),
        "language": file.language,
        "kind": chunk.kind,
        "symbol": chunk.symbol,
        "symbol_path": chunk.symbol_path,
        "symbols": [name.lower() for name in chunk.symbols],
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "def_line": chunk.def_line,
        "imports": [reference.name for reference in chunk.imports],
        "import_lines": _lines(chunk.imports),
        "calls": [reference.name for reference in chunk.calls],
        "call_lines": _lines(chunk.calls),
        "is_test": file.is_test,
        "is_config": file.is_config,
        "is_docs": file.is_docs,
        "is_generated": file.is_generated,
        "is_vendored": file.is_vendored,
        "blob": file.blob,
        "hash": content_hash(chunk.text),
        "modified_at": file.modified,
        "indexed_at": indexed_at.astimezone(UTC).timestamp(),
        "text": chunk.text,
    }


def _lines(references: Sequence[Reference]) -> str:
    """As one text, in the order of the names: the store takes a list of numbers one by one."""
    return ",".join(str(reference.line) for reference in references)


def content_hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).hexdigest()


def point(
    repo: str,
    file: SourceFile,
    index: int,
    chunk: Chunk,
    dense: Sequence[float],
    lexical: Sparse,
    indexed_at: datetime,
) -> Point:
    return Point(
        id=point_id(repo, file, index),
        vectors={DENSE: dense, LEXICAL: lexical},
        payload=payload(repo, file, chunk, indexed_at),
    )
