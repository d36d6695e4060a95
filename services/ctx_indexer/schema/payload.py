"""The payload of a chunk: everything that is stored of it beside its vectors."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from ctx_core.errors import SearchFailed
from ctx_core.vectors.points import Payload
from ctx_indexer.chunking.definition_spans import DefinitionSpan
from ctx_indexer.schema import fields
from ctx_indexer.schema.features import ChunkLocation, Features, compute_features
from ctx_indexer.schema.fields import version_id
from ctx_indexer.source.classify import FileFlags
from ctx_indexer.syntax.references import Reference

OUTDATED = "the index was written by another version of ctx; bring it up to date with: ctx index"
CACHED_PATHS = 8  # the chunks of a file are encoded one after the other


@dataclass(frozen=True, slots=True)
class ChunkPayload:
    """A chunk as it is stored. `symbols` are in lower case; times are Unix timestamps.

    `kind` is that of its main definition, `kinds` are those of all it holds.
    """

    repo: str
    path: str
    language: str
    kind: str
    kinds: tuple[str, ...]
    symbol: str
    symbol_path: str
    symbols: tuple[str, ...]
    start_line: int
    end_line: int
    def_line: int
    definitions: tuple[DefinitionSpan, ...]
    imports: tuple[Reference, ...]
    calls: tuple[Reference, ...]
    flags: FileFlags
    blob: str
    modified_at: float
    indexed_at: float
    text: str
    mentions: tuple[str, ...] = ()
    symbol_table: str = ""

    @property
    def features(self) -> Features:
        """The rank features, computed anew."""
        return compute_features(
            ChunkLocation(self.repo, self.path, self.start_line),
            kind=self.kind,
            symbol=self.symbol,
            symbol_path=self.symbol_path,
            symbols=self.symbols,
            flags=self.flags,
        )

    def encode(self) -> dict[str, Any]:
        """Encode as a payload. Filter fields are separate keys; rank features and details are one
        JSON string each, because Qdrant Edge takes 7 µs per string, however short it is."""
        folders, extension = _path_fields(self.path)
        details = {name: getattr(self, name) for name in _DETAILS}
        payload = {
            fields.REPO: self.repo,
            fields.PATH: self.path,
            fields.FILE_VERSION: version_id(self.repo, self.path, self.blob),
            fields.FOLDERS: folders,
            fields.EXTENSION: extension,
            fields.LANGUAGE: self.language,
            fields.KIND: list(self.kinds),
            fields.SYMBOLS: list(self.symbols),
            fields.IS_TEST: self.flags.is_test,
            fields.IS_CONFIG: self.flags.is_config,
            fields.IS_DOCS: self.flags.is_docs,
            fields.RANK_FEATURES: self.features.encode(),
            fields.DETAILS: json.dumps(details),
            fields.TEXT: self.text,
        }
        if self.symbol_table:
            payload[fields.MENTIONS] = list(self.mentions)
            payload[fields.SYMBOL_TABLE] = self.symbol_table
        return payload


_DETAILS = (
    "kind",
    "symbol",
    "symbol_path",
    "start_line",
    "end_line",
    "def_line",
    "definitions",
    "imports",
    "calls",
    "flags",
    "blob",
    "modified_at",
    "indexed_at",
)


def decode(payload: Payload) -> ChunkPayload:
    """Decode a payload. Raises SearchFailed for one that another version of ctx wrote."""
    try:
        details = json.loads(payload[fields.DETAILS])
        return ChunkPayload(
            repo=payload[fields.REPO],
            path=payload[fields.PATH],
            language=payload[fields.LANGUAGE],
            kinds=tuple(payload[fields.KIND]),
            symbols=tuple(payload[fields.SYMBOLS]),
            text=payload[fields.TEXT],
            definitions=tuple(DefinitionSpan(*each) for each in details.pop("definitions")),
            imports=tuple(Reference(*each) for each in details.pop("imports")),
            calls=tuple(Reference(*each) for each in details.pop("calls")),
            flags=FileFlags(*details.pop("flags")),
            **details,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SearchFailed(OUTDATED) from error


def embedding_text(chunk: ChunkPayload) -> str:
    """Return the text that models read of a chunk: its location, its symbol and its code."""
    return f"{chunk.path} {chunk.symbol_path}\n{chunk.text}"


@lru_cache(maxsize=CACHED_PATHS)
def _path_fields(path: str) -> tuple[list[str], str]:
    """Return the folders above a file and its extension."""
    parsed = PurePosixPath(path)
    folders = [str(parent) for parent in parsed.parents if str(parent) != "."]
    return folders, parsed.suffix.removeprefix(".").lower()
