"""Rank features of a chunk, computed when it is indexed and read by the ranking."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ctx_core.text.tokens import terms, word_parts
from ctx_indexer.source.classify import FileFlags

CACHED_PATHS = 4_096  # neighbouring chunks share their path and often their names

# Code for old callers, and code that shows how to call other code: seldom the answer.
_LOW_PRIORITY = re.compile(
    r"(?:^|/)_?(?:compat|deprecated|legacy|examples?|benchmarks?|bench)(?:/|\.|$)"
)
_VERSION = re.compile(r"(?<![^/])v([0-9]{1,3})/")


class ChunkLocation(NamedTuple):
    """The location of a chunk; it also orders chunks of equal score."""

    repo: str
    path: str
    line: int


class Features(NamedTuple):
    """The rank features of a chunk. `symbols` are in lower case, terms are stems."""

    location: ChunkLocation
    kind: str
    symbol_path: str
    symbols: frozenset[str]
    file_words: tuple[str, ...]
    name_terms: frozenset[str]
    symbol_words: tuple[str, ...]
    flags: FileFlags
    is_low_priority: bool

    def encode(self) -> str:
        """Encode as a JSON list; repo and path are payload fields of their own."""
        return json.dumps(
            [
                self.location.line,
                self.kind,
                self.symbol_path,
                sorted(self.symbols),
                sorted(self.name_terms),
                self.symbol_words,
                [int(flag) for flag in self.flags],
            ]
        )


def decode_features(repo: str, path: str, encoded: str) -> Features:
    """Decode a JSON list; raises ValueError or TypeError for another version's."""
    line, kind, symbol_path, symbols, name_terms, symbol_words, flags = json.loads(encoded)
    return Features(
        location=ChunkLocation(repo, path, line),
        kind=kind,
        symbol_path=symbol_path,
        symbols=frozenset(symbols),
        file_words=_file_words(path),
        name_terms=frozenset(name_terms),
        symbol_words=tuple(symbol_words),
        flags=FileFlags(*map(bool, flags)),
        is_low_priority=_is_low_priority(path),
    )


def compute_features(
    location: ChunkLocation,
    *,
    kind: str,
    symbol: str,
    symbol_path: str,
    symbols: Iterable[str],
    flags: FileFlags,
) -> Features:
    """Compute the rank features of a chunk; `symbols` are in lower case."""
    names = tuple(symbols)
    return Features(
        location=location,
        kind=kind,
        symbol_path=symbol_path,
        symbols=frozenset(names),
        file_words=_file_words(location.path),
        name_terms=_terms(names),
        symbol_words=tuple(word_parts(symbol)),
        flags=flags,
        is_low_priority=_is_low_priority(location.path),
    )


@lru_cache(maxsize=CACHED_PATHS)
def path_version(path: str) -> tuple[str, int] | None:
    """Return the folder of versions and the version of a path: a/v4/b.ts → a/, 4."""
    match = _VERSION.search(path)
    return (path[: match.start()], int(match[1])) if match else None


def folder_of(path: str) -> str:
    """Return the folder of a path: a/v4/b.ts → a/v4/."""
    return path[: path.rfind("/") + 1]


@lru_cache(maxsize=CACHED_PATHS)
def _is_low_priority(path: str) -> bool:
    return _LOW_PRIORITY.search(path) is not None


@lru_cache(maxsize=CACHED_PATHS)
def _file_words(path: str) -> tuple[str, ...]:
    return tuple(word_parts(path.rpartition("/")[2].partition(".")[0]))


@lru_cache(maxsize=CACHED_PATHS)
def _terms(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(term for name in names for term in terms(name))
